"""The views as files, for whoever reads them with other tools.

One rule: nothing is overwritten unless it is asked for, and a file is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb

from lab.errors import StoreError, UserError
from lab.report.grid import Fitted
from lab.store.connection import first_line
from lab.store.ids import BISECTION, RUN, named
from lab.store.reading import reading
from lab.store.views import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

    from lab.store.views import View

FORMATS = {"parquet": "FORMAT parquet, COMPRESSION zstd", "csv": "FORMAT csv, HEADER true"}
KINDS = {"run": RUN, "bisection": BISECTION}  # the column that says whose a row is
Tick = Callable[[int, int], None]


def export(
    db: Path, names: Sequence[str], form: str, out: Path, *, force: bool, tick: Tick
) -> list[dict[str, Any]]:
    """Write every view, of all that is stored or of the runs and bisections that ``names`` mean.

    Returns view, file and rows of each. Raises ``UserError``.
    """
    files = {view: out / f"{view.name}.{form}" for view in VIEWS}
    _free(out, list(files.values()), force)
    with reading(db, files=True) as opened:
        ids = _meant(opened, db, names)
        written = []
        for number, (view, file) in enumerate(files.items(), 1):
            rows = _write(opened, view, ids if names else None, file, FORMATS[form])
            written.append({"view": view.name, "file": str(file), "rows": rows})
            tick(number, len(files))
    return written


def exported_table(document: Mapping[str, Any]) -> Fitted:
    """What was written, for a person."""
    rows = [[it["file"], f"{it['rows']:,}"] for it in document["files"]]
    return Fitted(("file", "rows"), rows)


def _free(out: Path, files: Sequence[Path], force: bool) -> None:
    """Make the folder; raise ``UserError`` where that fails, or a file is there already."""
    there = [file.name for file in files if file.exists()]
    if there and not force:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        what = f"{there[0]}{more} would be overwritten"
        raise UserError(f"{out}: {what}; --force does that, --out names another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out}: no folder for the files: {error.strerror}") from error


def _meant(db: duckdb.DuckDBPyConnection, path: Path, names: Sequence[str]) -> list[str]:
    """The ids of the runs, or else bisections, that names mean; raises ``StoreError``."""
    known = {kind: _ids(db, kind) for kind in KINDS}
    return [_one(name, known, path) for name in names]


def _ids(db: duckdb.DuckDBPyConnection, kind: str) -> list[str]:
    found = db.execute(f"SELECT {kind} FROM {kind}s ORDER BY started_at").fetchall()
    return [str(one) for (one,) in found]


def _one(name: str, known: dict[str, list[str]], path: Path) -> str:
    try:
        return named(name, known["run"], RUN, path)
    except StoreError as error:
        try:
            return named(name, known["bisection"], BISECTION, path)
        except StoreError:
            raise error from None


def _write(
    db: duckdb.DuckDBPyConnection, view: View, ids: list[str] | None, file: Path, how: str
) -> int:
    part = file.with_name(f"{file.name}.part")
    whose = next((column.name for column in view.columns if column.name in KINDS), "")
    # COPY takes no parameters; ids are the database's own
    listed = ", ".join(_quoted(one) for one in ids or ["none"])
    where = "" if ids is None else f" WHERE {whose} IN ({listed})"
    try:
        made = db.execute(
            f"COPY (SELECT * FROM {view.name}{where}) TO {_quoted(str(part))} ({how})"
        ).fetchone()
        part.replace(file)
    except (duckdb.Error, OSError) as error:
        part.unlink(missing_ok=True)
        raise UserError(f"{file}: cannot be written: {first_line(str(error))}") from error
    return int(made[0]) if made else 0


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

"""The database for whoever only asks: read-only, with the documented views.

One rule: no question can change the file, write another or read one: DuckDB itself refuses it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

from lab.errors import StoreError, UserError
from lab.store.connection import CONFIG, first_line, patiently
from lab.store.db import open_results
from lab.store.migrations import MIGRATIONS
from lab.store.views import STORE, VIEWS

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
TABLE = re.compile(r"Table with name (\S+) does not exist")
VIEWED = "; `kvlab sql --views` lists what there is"
COLUMN = re.compile(r'(?:column named|Referenced column) "?([\w.]+)')


@contextmanager
def reading(path: Path, *, files: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """The views over the file at ``path``, which others may read meanwhile; raises ``StoreError``.

    ``files`` lets the caller's own statements write files; a user's never may.
    """
    if not path.exists():
        raise StoreError(f"{path}: no such database; `kvlab run` makes it, --db names another")
    db = duckdb.connect(config=dict(CONFIG))
    try:
        if not _attached(db, path):
            open_results(path, create=False).close()  # brings the file up to date
            _attached(db, path)
        for view in VIEWS:
            db.execute(f"CREATE VIEW {view.name} AS {view.select}")
        db.execute(f"SET temp_directory = '{_escaped(path)}.tmp'")  # as for whoever writes it
        if not files:
            db.execute("SET enable_external_access = false")
        db.execute("SET lock_configuration = true")
        yield db
    finally:
        db.close()


def _attached(db: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Attach the file; whether it is as this kvlab would leave it, else it is let go again."""
    attach = f"ATTACH '{_escaped(path)}' AS {STORE} (READ_ONLY)"
    patiently(path, lambda: db.execute(attach))
    if _up_to_date(db):
        return True
    db.execute(f"DETACH {STORE}")
    return False


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")


def _up_to_date(db: duckdb.DuckDBPyConnection) -> bool:
    """Whether the schema is ours, and no run is said to go on that nobody drives."""
    try:
        row = db.execute(
            f"SELECT (SELECT max(version) FROM {STORE}.schema_version),"
            f" (SELECT count(*) FROM {STORE}.runs WHERE status = 'running')"
            f" + (SELECT count(*) FROM {STORE}.bisections WHERE status = 'running')"
        ).fetchone()
    except duckdb.CatalogException:
        return False
    return row == (len(MIGRATIONS), 0)


def ask(db: duckdb.DuckDBPyConnection, question: str) -> duckdb.DuckDBPyConnection:
    """The open result of one SELECT; raises ``UserError``, one line."""
    try:
        statements = db.extract_statements(question)
        if len(statements) != 1 or statements[0].type not in QUESTIONS:
            raise UserError("one SELECT is taken: the database is only read")
        return db.execute(statements[0])
    except duckdb.Error as error:
        raise UserError(explained(str(error))) from error


def explained(message: str) -> str:
    """DuckDB's words on a question, on one line, with a name of ours that is near a wrong one."""
    said = " ".join(message.split("\n\nLINE")[0].split("\n"))
    for pattern, names in ((TABLE, _views()), (COLUMN, _columns())):
        found = pattern.search(message)
        if found is None:
            continue
        given = found[1].rpartition(".")[2]
        near = difflib.get_close_matches(given.casefold(), names, n=1, cutoff=0.6)
        own = first_line(message)
        return f"{own.rstrip('!')}; did you mean {near[0]!r}?" if near else own.rstrip("!") + VIEWED
    return said + VIEWED if said.startswith("Parser Error") else said


def _views() -> list[str]:
    return [view.name for view in VIEWS]


def _columns() -> list[str]:
    return list(dict.fromkeys(column.name for view in VIEWS for column in view.columns))


def types(result: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The columns of an open result by name, with their types; a name given twice is numbered."""
    found: dict[str, str] = {}
    for name, kind, *_ in result.description or ():
        known = sum(other == name or other.startswith(f"{name}_") for other in found)
        found[f"{name}_{known + 1}" if name in found else name] = str(kind)
    return found


def rows(result: duckdb.DuckDBPyConnection, most: int | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows of an open result as they come, at most ``most``; raises ``UserError``."""
    left = most
    while left is None or left > 0:
        try:
            batch = result.fetchmany(1000 if left is None else min(1000, left))
        except duckdb.Error as error:
            raise UserError(explained(str(error))) from error
        if not batch:
            return
        left = None if left is None else left - len(batch)
        yield from batch

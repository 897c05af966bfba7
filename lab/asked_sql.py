"""The answer to a question in SQL, as a table, as JSON or as CSV; and the views that may be asked.

One rule: a table is for reading, so it is short and its cells are cut; the other two are whole.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from lab.commands.output import note, show, show_json
from lab.report.grid import Fitted
from lab.store.reading import ask, reading, rows, types
from lab.store.views import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

    from lab.store.views import View

ROWS, CELL = 100, 60  # of a table: rows, and characters of a cell
NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL")  # in the names of types, those of numbers


def show_answer(db: Path, question: str, as_json: bool, as_csv: bool) -> None:
    """Ask, and print what comes; raises ``UserError``, one line."""
    with reading(db) as opened:
        result = ask(opened, question)
        columns = types(result)
        if as_json:
            show_json([_object(columns, row) for row in rows(result)])
        elif as_csv:
            _csv(columns, rows(result))
        else:
            _table(columns, list(rows(result, ROWS + 1)))


def _object(columns: Mapping[str, str], row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if kind == "JSON" and value is not None else plain(value)
        for (name, kind), value in zip(columns.items(), row, strict=True)
    }


def plain(value: Any) -> Any:
    """A value as JSON has it: a moment as ISO 8601, UTC; no number that is none."""
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z" if value.tzinfo is None else value.isoformat()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(it) for key, it in value.items()}
    if isinstance(value, list | tuple):
        return [plain(it) for it in value]
    return value if value is None or isinstance(value, bool | int | str) else _number(value)


def _number(value: Any) -> Any:
    """A decimal as a number; whatever else as its text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _csv(columns: Iterable[str], found: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in found:
        writer.writerow(
            [_cell(value) if isinstance(value, list | dict) else value for value in row]
        )


def _table(columns: Mapping[str, str], found: list[Sequence[Any]]) -> None:
    told = [[cut(_cell(value)) for value in row] for row in found[:ROWS]]
    words = [name for name, kind in columns.items() if not any(it in kind for it in NUMBERS)]
    show(Fitted(tuple(columns), told, text=words))
    if len(found) > ROWS:
        note(f"the first {ROWS} rows; --csv and --json print all")
    elif not found:
        note("no rows")


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    shown = plain(value)
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def cut(text: str) -> str:
    """The first ``CELL`` characters on one line."""
    line = " ".join(text.split())
    return line if len(line) <= CELL else f"{line[: CELL - 1]}…"


def show_views(as_json: bool) -> None:
    """Print every view with its columns and what they mean."""
    if as_json:
        show_json([_document(view) for view in VIEWS])
        return
    for view in VIEWS:
        told = [[column.name, column.meaning] for column in view.columns]
        show(f"{view.name}: {view.about}")
        show(Fitted(("column", "meaning"), told, text=("meaning",)))


def _document(view: View) -> dict[str, Any]:
    meanings = {column.name: column.meaning for column in view.columns}
    return {"view": view.name, "about": view.about, "columns": meanings}

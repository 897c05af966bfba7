"""`kvlab export`: the documented views as Parquet or CSV files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show_measured


class Form(StrEnum):
    """What files are written."""

    PARQUET = "parquet"
    CSV = "csv"


Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...", help="Only these: ids, parts of them, or `last`; by default all."
    ),
]
Format = Annotated[Form, typer.Option("--format", help="One file a view, of this kind.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the files of an earlier export.")]
Into = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Their folder; by default `export` beside the db."),
]


def export(
    runs: Runs = None,
    form: Format = Form.PARQUET,
    out: Into = None,
    force: Force = False,
    db: o.Db = o.DB,
    as_json: o.Json = False,
) -> None:
    """Write what is stored as files for other tools: one a view of `kvlab sql --views`."""
    from lab.progress import counting
    from lab.store.exporting import export as write
    from lab.store.exporting import exported_table

    folder = out or db.parent / "export"
    with counting("export", "views") as tick:
        written = write(db, runs or (), form.value, folder, force=force, tick=tick)
    show_measured({"files": written}, exported_table, as_json)

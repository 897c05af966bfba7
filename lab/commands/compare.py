"""`kvlab compare`: two stored runs side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show_measured

Older = Annotated[str, typer.Argument(metavar="A", help="A run: its id, part of it, `last~1`.")]
Newer = Annotated[str, typer.Argument(metavar="B", help="The run that is held against it.")]


def compare(a: Older, b: Newer = "last", db: o.Db = o.DB, as_json: o.Json = False) -> None:
    """Compare two runs, two builds or two days: rates, exposure, times, and what was changed."""
    from lab.comparing import compare as held
    from lab.comparing import report
    from lab.store import open_results

    with open_results(db, create=False) as results:
        document = held(results, results.resolve(a), results.resolve(b))
    show_measured(document, report, as_json)

"""`kvlab report`: a judged run or a bisection once more, as tables, figures and markdown."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show_bisection, show_run

Named = Annotated[
    str,
    typer.Argument(metavar="[ID]", help="A run or a bisection, part of its id, or `last`."),
]


def report(
    run: Named = "last", db: o.Db = o.DB, out: o.Out = None, as_json: o.Json = False
) -> None:
    """Show a run's or a bisection's tables again; write its figures and its markdown report."""
    from lab.bisecting.written import written_again
    from lab.ended import verdict_of
    from lab.running import write_report
    from lab.store import BISECTION, open_results

    with open_results(db, create=False) as results:
        kind, which = results.meant(run)
        if kind is BISECTION:
            show_bisection(*written_again(results, which, out), as_json)
        else:
            verdict = verdict_of(results, which)
            show_run(verdict, as_json, write_report(results, verdict, out))

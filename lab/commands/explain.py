"""`kvlab explain`: why one reply came out wrong, from its first wrong token back to the cause."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show, show_json
from lab.errors import UserError

Session = Annotated[
    int | None,
    typer.Option("--session", min=0, help="This session; by default the most telling one."),
]
Every = Annotated[bool, typer.Option("--all", help="A line for each corrupt session, and a sum.")]


def explain(
    run: o.Run = "last",
    arm: o.ArmName = None,
    session: Session = None,
    every: Every = False,
    db: o.Db = o.DB,
    as_json: o.Json = False,
) -> None:
    """Explain a bad reply: its first wrong token, the row that it read, its writer, the cause."""
    from lab.explaining import report
    from lab.store import open_results

    if every and session is not None:
        raise UserError("--all with --session: give one of them")
    with open_results(db, create=False) as results:
        asked = report.ask(results, results.resolve(run), arm, session)
    if as_json:
        show_json((report.all_document if every else report.explain_document)(asked))
    else:
        show((report.all_report if every else report.explain_report)(asked), crop=False)

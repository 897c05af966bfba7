"""`kvlab show`: one run from near: how it ended, and the replies that went wrong."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o

ArmName = Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Only this arm.")]
Session = Annotated[int | None, typer.Option("--session", min=0, help="Only this session.")]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Replies shown, the worst first.")]


def show(
    run: o.Run = "last",
    arm: ArmName = None,
    session: Session = None,
    limit: Limit = 3,
    db: o.Db = o.DB,
    as_json: o.Json = False,
) -> None:
    """Show one run from near: outcomes, counters of an arm, and the replies that went wrong."""
    from lab.inspecting import inspect, inspect_json
    from lab.store import open_results

    with open_results(db, create=False) as results:
        look = inspect_json if as_json else inspect
        look(results, results.resolve(run), arm, session, limit)

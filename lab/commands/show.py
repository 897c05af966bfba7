"""`kvlab show`: one run from near: how it ended, and the replies that went wrong."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o

Session = Annotated[int | None, typer.Option("--session", min=0, help="Only this session.")]
Rooms = Annotated[
    bool, typer.Option("--rooms", help="The rooms of disaggregated arms, instead of replies.")
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", min=0, help="Shown, the worst first; by default 3 replies, or 20 rooms an arm."
    ),
]
REPLIES, ROOMS = 3, 20


def show(
    run: o.Run = "last",
    arm: o.ArmName = None,
    session: Session = None,
    rooms: Rooms = False,
    limit: Limit = None,
    db: o.Db = o.DB,
    as_json: o.Json = False,
) -> None:
    """Show one run from near: outcomes, an arm's counters, its rooms, replies that went wrong."""
    from lab.inspecting import inspect, inspect_json, inspect_rooms, inspect_rooms_json
    from lab.store import open_results

    most = limit if limit is not None else ROOMS if rooms else REPLIES
    with open_results(db, create=False) as results:
        which = results.resolve(run)
        if rooms:
            (inspect_rooms_json if as_json else inspect_rooms)(results, which, arm, session, most)
        else:
            (inspect_json if as_json else inspect)(results, which, arm, session, most)

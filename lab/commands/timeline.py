"""`kvlab timeline`: virtual time of one run as a trace for Perfetto."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import note, show, show_json

Session = Annotated[
    int | None,
    typer.Option("--session", min=0, help="Only this session, and what went on meanwhile."),
]
File = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="By default timeline.json or timeline-session-N.json, in the run's folder.",
    ),
]


def timeline(
    run: o.Run = "last",
    arm: o.ArmName = None,
    session: Session = None,
    out: File = None,
    db: o.Db = o.DB,
    as_json: o.Json = False,
) -> None:
    """Write a run's virtual time as a trace that ui.perfetto.dev opens as it is."""
    from lab.store import open_results
    from lab.timeline import VIEWER, timeline_document, timeline_report, write_timeline

    with open_results(db, create=False) as results:
        written = write_timeline(results, results.resolve(run), arm, session, out)
    if as_json:
        show_json(timeline_document(written))
    else:
        show(timeline_report(written))
        note(f"the trace is {written.path}; {VIEWER} opens it as it is")

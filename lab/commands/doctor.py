"""`kvlab doctor`: what this machine and this installation are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show, show_json
from lab.errors import UserError

Bench = Annotated[bool, typer.Option("--bench", help="Also run a short load and measure it.")]
Geometry = Annotated[
    bool, typer.Option("--geometry", help="Instead: every pool's rows and pages in each tier.")
]
Of = Annotated[
    Path | None,
    typer.Argument(metavar="[SCENARIO]", help="With --geometry: that file's arms and build."),
]


def doctor(
    scenario: Of = None,
    geometry: Geometry = False,
    sets: o.Sets = None,
    bench: Bench = False,
    db: o.Db = o.DB,
    as_json: o.Json = False,
) -> None:
    """Say what is installed, what the machine has, and what state the database is in."""
    if geometry and not bench:
        return _geometry(scenario, sets or (), as_json)
    if geometry:
        raise UserError("doctor: --geometry and --bench are two reports; ask for one")
    if scenario is not None or sets:
        given = scenario if scenario is not None else f"--set {(sets or [''])[0]}"
        raise UserError(f"doctor: {given} is for the report of pools; add --geometry")
    from lab.doctor import examine, facts_table

    facts = examine(db, bench)
    if as_json:
        show_json(facts)
    else:
        show(facts_table(facts))


def _geometry(scenario: Path | None, sets: Sequence[str], as_json: bool) -> None:
    """The other report: no machine, no database, only the pools."""
    from lab.chunk_bytes import chunk_report, chunk_table
    from lab.geometry import report
    from lab.report.tiers import geometry_report

    if sets and scenario is None:
        raise UserError("doctor: --set patches a scenario; name one: doctor SCENARIO --geometry")
    entries, chunk = report(scenario, sets), chunk_report()
    if as_json:
        show_json({"geometry": entries, "chunk": chunk})
    else:
        show(geometry_report(entries))
        show(chunk_table(chunk))

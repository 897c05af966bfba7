"""`kvlab sweep`: one numeric knob over a ladder."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.arms import Options

Toggle = Annotated[
    str | None,
    typer.Option(
        "--toggle",
        metavar="KEY=LEVELS",
        help="Levels as V1,V2,... or LOW..HIGH; by default the file's `sweep`.",
    ),
]


def sweep(
    scenario: o.ScenarioFile,
    toggle: Toggle = None,
    seed: o.Seed = None,
    sessions: o.Sessions = None,
    sets: o.Sets = None,
    repeats: o.Repeats = 1,
    dry_run: o.DryRun = False,
    resume: o.ResumeRun = None,
    keep_going: o.KeepGoing = False,
    db: o.Db = o.DB,
    out: o.Out = None,
    as_json: o.Json = False,
    fail_on: o.Fail = None,
) -> None:
    """Run a scenario at every level of one numeric knob, and say between which levels it turns."""
    from lab.scenario.sweeping import swept

    way = (repeats, dry_run, resume, keep_going)
    options = Options(scenario, seed, sessions, sets, db, out, as_json, fail_on, *way)
    command = ["sweep", *(["--toggle", toggle] if toggle else [])]
    raise typer.Exit(options.answer(swept(options.load(), toggle), command))

"""`kvlab sweep`: one numeric knob over a ladder."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import exit_code, note_idle, show_run

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
    db: o.Db = o.DB,
    out: o.Out = None,
    as_json: o.Json = False,
    fail_on: o.Fail = None,
) -> None:
    """Run a scenario at every level of one numeric knob, and say between which levels it turns."""
    from lab.asking import asked
    from lab.running import folder_of, perform
    from lab.scenario.loader import capped, load_scenario
    from lab.scenario.sweeping import swept

    ladder = swept(load_scenario(scenario, sets or (), seed), toggle)
    command = ["sweep", *(["--toggle", toggle] if toggle else [])]
    how = asked(command, scenario, ladder, sets=sets or (), seed=seed, sessions=sessions)
    note_idle(ladder)
    verdict = perform(capped(ladder, sessions), db, out, how)
    show_run(verdict, as_json, folder_of(verdict.run, db, out))
    raise typer.Exit(exit_code(verdict, fail_on))

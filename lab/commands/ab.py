"""`kvlab ab`: two arms side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import exit_code, note_idle, show_run

Arms = Annotated[list[str] | None, typer.Argument(metavar="[A B]", help="Two arms of the file.")]
Toggle = Annotated[
    str | None, typer.Option("--toggle", metavar="KEY=A,B", help="Make the two arms of one toggle.")
]


def ab(
    scenario: o.ScenarioFile,
    arms: Arms = None,
    toggle: Toggle = None,
    seed: o.Seed = None,
    sessions: o.Sessions = None,
    sets: o.Sets = None,
    db: o.Db = o.DB,
    out: o.Out = None,
    as_json: o.Json = False,
    fail_on: o.Fail = None,
) -> None:
    """Run two arms of a scenario, or the two values of one toggle, and compare them."""
    from lab.asking import asked
    from lab.running import folder_of, perform
    from lab.scenario.loader import capped, load_scenario
    from lab.scenario.pairs import pair

    two = pair(load_scenario(scenario, sets or (), seed), arms or (), toggle)
    command = ["ab", *(arms or ()), *(["--toggle", toggle] if toggle else [])]
    how = asked(command, scenario, two, sets=sets or (), seed=seed, sessions=sessions)
    note_idle(two)
    verdict = perform(capped(two, sessions), db, out, how)
    show_run(verdict, as_json, folder_of(verdict.run, db, out))
    raise typer.Exit(exit_code(verdict, fail_on))

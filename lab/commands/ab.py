"""`kvlab ab`: two arms side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.arms import Options

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
    repeats: o.Repeats = 1,
    dry_run: o.DryRun = False,
    resume: o.ResumeRun = None,
    keep_going: o.KeepGoing = False,
    db: o.Db = o.DB,
    out: o.Out = None,
    as_json: o.Json = False,
    fail_on: o.Fail = None,
) -> None:
    """Run two arms of a scenario, or the two values of one toggle, and compare them."""
    from lab.scenario.pairs import pair

    way = (repeats, dry_run, resume, keep_going)
    options = Options(scenario, seed, sessions, sets, db, out, as_json, fail_on, *way)
    command = ["ab", *(arms or ()), *(["--toggle", toggle] if toggle else [])]
    raise typer.Exit(options.answer(pair(options.load(), arms or (), toggle), command))

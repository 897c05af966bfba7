"""`kvlab run`: every arm of a scenario, stored, judged and drawn."""

from __future__ import annotations

import typer

from lab.commands import options as o
from lab.commands.output import exit_code, note_idle, show_run


def run(
    scenario: o.ScenarioFile,
    seed: o.Seed = None,
    sessions: o.Sessions = None,
    sets: o.Sets = None,
    db: o.Db = o.DB,
    out: o.Out = None,
    as_json: o.Json = False,
    fail_on: o.Fail = None,
) -> None:
    """Run a scenario: every arm, stored, then judged, then shown as an A/B table."""
    from lab.asking import asked
    from lab.running import folder_of, perform
    from lab.scenario.loader import capped, load_scenario

    whole = load_scenario(scenario, sets or (), seed, here=True)
    how = asked(["run"], scenario, whole, sets=sets or (), seed=seed, sessions=sessions)
    note_idle(whole)
    verdict = perform(capped(whole, sessions), db, out, how)
    show_run(verdict, as_json, folder_of(verdict.run, db, out))
    raise typer.Exit(exit_code(verdict, fail_on))

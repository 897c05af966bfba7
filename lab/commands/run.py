"""`kvlab run`: every arm of a scenario, stored, judged and drawn."""

from __future__ import annotations

import typer

from lab.commands import options as o
from lab.commands.arms import Options


def run(
    scenario: o.ScenarioFile,
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
    """Run a scenario: every arm, stored, then judged, then shown as an A/B table."""
    way = (repeats, dry_run, resume, keep_going)
    options = Options(scenario, seed, sessions, sets, db, out, as_json, fail_on, *way)
    raise typer.Exit(options.answer(options.load(here=True), ["run"]))

"""A run that ended before its last arm, and how it goes on. One rule: only as it began.

An arm whose target failed is stored, for what it served is worth a look; it is run again.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from lab.errors import Interrupted, UserError
from lab.store import RunStatus, open_results
from lab.targets import failure

if TYPE_CHECKING:
    from pathlib import Path

    from lab.scenario.models import Scenario
    from lab.store import Results


def taken_up(results: Results, scenario: Scenario, named: str) -> str:
    """The stored run, running again; raises `UserError` where it cannot go on as it began."""
    run = _checked(results, scenario, named)
    results.resume_run(run)
    return run


def kept(results: Results, run: str) -> frozenset[str]:
    """The names of a run's arms that are not run again."""
    return frozenset(arm.name for arm in results.histories(run) if failure(arm) is None)


def kept_of(db: Path, scenario: Scenario, named: str) -> frozenset[str]:
    """The same of a stored run that is not begun again; raises `UserError` where it cannot be."""
    with open_results(db, create=False) as results:
        return kept(results, _checked(results, scenario, named))


def _checked(results: Results, scenario: Scenario, named: str) -> str:
    run = results.resolve(named)
    stored = results.run(run)
    if stored.status is RunStatus.DONE:
        what = f"run {run} is done; `kvlab report {run}{results.where}` shows it"
        raise UserError(f"--resume {named}: {what}")
    if stored.yaml != scenario.source:
        what = f"{scenario.path} is not what run {run} began with, or other options are given"
        raise UserError(f"--resume {named}: {what}; run it anew without --resume")
    return run


def stopped(results: Results, run: str, scenario: Scenario, out: Path | None = None) -> Interrupted:
    """What is told of a run that the user stopped; ``out`` is the folder that was asked for."""
    stored = results.run(run)
    word = f"interrupted: {len(stored.arms)} of {len(scenario.arms)} arms are stored as run {run}"
    if not stored.arms:
        return Interrupted(word)
    to = f" --out {shlex.quote(str(out))}" if out is not None else ""
    goes_on = f"`{shlex.join(stored.asked.argv)} --resume {run}{results.where}{to}` goes on, "
    judges = f"`kvlab judge {run}{results.where}` judges them, "
    shows = f"`kvlab report {run}{results.where}{to}` then shows what there is"
    return Interrupted(f"{word}; {goes_on}{judges}{shows}")

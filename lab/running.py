"""A whole run: every arm driven, stored, then judged, then drawn. One rule: in that order.

An arm is stored as soon as it ends, so a run that is interrupted keeps what had finished and can
be judged later.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from lab import interrupts, judging
from lab.ended import incomplete
from lab.errors import ScenarioError, TargetError, UserError
from lab.progress import RunProgress
from lab.report.written import write_run
from lab.resuming import kept, stopped, taken_up
from lab.scenario.checks import no_device
from lab.scenario.loader import expectations
from lab.store import RunStatus, open_results
from lab.targets import failure
from lab.targets.boots import boots
from lab.trial import run_arm
from lab.versions import versions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lab.launching import Servers
    from lab.records import ArmHistory, Asked, RunVerdict
    from lab.scenario.models import Scenario
    from lab.store import Results


LOGS = "servers"  # of a run's folder, what its servers printed


@dataclass(frozen=True)
class Way:
    """How a run goes: on with the one that ``resume`` names, and on where a target failed."""

    resume: str | None = None
    keep_going: bool = False


def perform(
    scenario: Scenario,
    db: Path,
    out: Path | None = None,
    how: Asked | None = None,
    way: Way = Way(),
) -> RunVerdict:
    """Run a scenario into the database at ``db``, with progress for whoever watches."""
    with open_results(db, create=way.resume is None) as results:
        return run_scenario(scenario, results, RunProgress(), out, how, way)


def run_scenario(
    scenario: Scenario,
    results: Results,
    progress: RunProgress,
    out: Path | None = None,
    how: Asked | None = None,
    way: Way = Way(),
) -> RunVerdict:
    """Run, store, judge and draw; ``out`` is the figures' folder, by default one a run.

    Raises `UserError`, with nothing begun, where there is no arm or that folder cannot be written,
    `TargetError` where an arm could not be driven, `Interrupted` on the user's word.
    """
    _check_arms(scenario)
    _make(out or results.path.parent)
    run = taken_up(results, scenario, way.resume) if way.resume else ""
    run = run or results.begin_run(scenario.name, scenario.source, scenario.seed, versions(), how)
    try:
        with interrupts.heard(), progress:
            _drive(scenario, results, run, progress, folder_of(run, results.path, out), way)
    except KeyboardInterrupt:
        results.finish_run(run, RunStatus.INTERRUPTED)
        raise stopped(results, run, scenario, out) from None
    except BaseException:
        results.finish_run(run, RunStatus.FAILED)
        raise
    verdict = judge_run(results, run)
    results.finish_run(run, RunStatus.DONE)
    write_report(results, verdict, out)
    return verdict


def _drive(
    scenario: Scenario,
    results: Results,
    run: str,
    progress: RunProgress,
    folder: Path,
    way: Way,
) -> None:
    """Every arm that is not stored whole, boot by boot; no server outlives the block."""
    stored = kept(results, run)
    with _servers(scenario, folder / LOGS, progress.say) as servers:
        last = 0
        for boot in boots(scenario):
            if servers is not None and boot.round != last:
                servers.close()  # a repetition has a boot of its own, be it of the same commands
            last = boot.round
            for arm in boot.arms:
                if arm.name in stored:
                    continue
                tick = progress.arm(arm.name, scenario.sessions(arm))
                history = run_arm(scenario, arm, scenario.seed, tick, servers=servers)
                results.save_arm(run, history)
                interrupts.check()
                _check_served(run, history, way)


def _servers(
    scenario: Scenario, folder: Path, say: Callable[[str], None]
) -> AbstractContextManager[Servers | None]:
    if scenario.target.bundled:
        return nullcontext()
    from lab.targets.foreign import servers_of

    return servers_of(scenario, folder, say)


def _check_arms(scenario: Scenario) -> None:
    """Raise `ScenarioError` for a file that is for another command, or for another machine."""
    if not scenario.arms:
        other = "bisect" if scenario.toggles else "sweep"
        what = f"no arms to run; `kvlab {other} {scenario.path}` makes its own"
        raise ScenarioError(f"{scenario.path}: {what}")
    for found in no_device(scenario):
        raise found.error(str(scenario.path))


def _check_served(run: str, history: ArmHistory, way: Way) -> None:
    """Raise `TargetError` for a stored arm whose target died or served nothing."""
    why = failure(history)
    if why is not None and not way.keep_going:
        raise TargetError(f"arm {history.name!r}: {why}; run {run} holds what finished")


def judge_run(results: Results, run: str) -> RunVerdict:
    """Judge a stored run, again or for the first time, and store what is concluded."""
    stored = results.run(run)
    expect = expectations(stored.yaml, f"scenario of run {run}")
    histories = results.histories(run)
    verdict, findings = judging.judge_run(
        run, stored.scenario, stored.seed, histories, expect, stored.asked
    )
    results.save_verdict(run, verdict, findings)
    return replace(verdict, incomplete=incomplete(stored))


def write_report(results: Results, verdict: RunVerdict, out: Path | None) -> Path:
    """Figures, a markdown report and a page of a judged run; returns their folder."""
    return write_run(results, verdict, folder_of(verdict.run, results.path, out))


def _make(folder: Path) -> None:
    """Make the folder of a run's figures, and try it: the run may take hours, and comes first."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        what = f"no folder for figures: {error.strerror}"
        raise UserError(f"{folder}: {what}; --out names another") from None


def folder_of(run: str, db: Path, out: Path | None) -> Path:
    """Where a run's figures and report go: ``out``, or a folder of its own beside the database."""
    return out or db.parent / run

"""Phase 4: one failing trial again, its schedule shortened, as a scenario that anybody can run.

One rule: what is written was run; the stored run holds its history, seed, configuration, build and
versions, and the file repeats it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab import interrupts
from lab.bisect.shorten import shortest
from lab.bisecting.outcomes import CORRUPT, verdict_of
from lab.errors import UserError
from lab.judging import judge_arm
from lab.progress import RunProgress, counting
from lab.replaying.alone import alone, save
from lab.running import run_scenario
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lab.records import ArmVerdict
    from lab.scenario.models import Scenario
    from lab.store import Results

ARM = "failing"
TRIES = 12  # trials that shortening may cost


@dataclass(frozen=True)
class Replay:
    """Where the shortened trial is: its file, the run that holds its history, what it takes."""

    file: Path
    run: str
    seed: int
    sessions: tuple[int, ...]  # those that it takes, by their index
    planned: int  # sessions of the whole trial
    digest: str

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "scenario": str(self.file),
            "run": self.run,
            "seed": self.seed,
            "sessions": list(self.sessions),
            "sessions_planned": self.planned,
            "history_digest": self.digest,
        }


def replay(
    scenario: Scenario,
    overrides: Mapping[str, Any],
    seed: int,
    outcome: str,
    results: Results,
    folder: Path,
) -> Replay:
    """Shorten the trial of ``seed`` that ended in ``outcome``, run and store what is left of it.

    ``outcome`` is what was sought. Raises `UserError` where the file cannot be written, and where
    what is left ends otherwise.
    """
    file = folder / "replay.yaml"
    every = tuple(scenario.workload.options.get("only") or range(scenario.workload.sessions))
    save(file, source(scenario, overrides, seed, every, outcome))  # there if shortening is not
    with counting("shortening a failing trial", "trials") as tick:
        tried = 0

        def fails(some: tuple[int, ...]) -> bool:
            nonlocal tried
            tick(tried, TRIES)
            tried += 1
            return _ends(scenario, overrides, seed, some, outcome)

        tick(0, TRIES)
        kept = shortest(every, fails, TRIES)
    text = source(scenario, overrides, seed, kept, outcome)
    save(file, text)
    shorter, out = parse_scenario(text, str(file)), folder / "replay"
    verdict = run_scenario(shorter, results, RunProgress(), out)
    (arm,) = verdict.arms
    if not _sought(arm, outcome):
        file.unlink()
        raise UserError(f"the shortened trial ended as {arm.verdict}, not {outcome}")
    return Replay(file, verdict.run, seed, kept, len(every), arm.history_digest)


def source(
    scenario: Scenario,
    overrides: Mapping[str, Any],
    seed: int,
    only: Sequence[int],
    outcome: str,
) -> str:
    """The YAML of one arm: these settings, this seed, these sessions."""
    load = scenario.workload
    options = {key: value for key, value in load.options.items() if value is not None}
    numbers = {"sessions": load.sessions, **options, "only": list(only)}
    if "only_turns" in options:
        turns = dict(zip(options["only"], options["only_turns"], strict=True))
        numbers["only_turns"] = [turns[one] for one in only]
    return alone(
        scenario,
        name=f"{scenario.name}_failing",
        about=f"one failing trial of {scenario.name}: {len(only)} of {load.sessions} sessions",
        workload={"kind": load.kind, "preset": load.preset, **numbers},
        engine={**scenario.engine, **overrides},
        arm=ARM,
        expect={"verdict": verdict_of(outcome)},
        seed=seed,
    )


def _ends(
    scenario: Scenario,
    overrides: Mapping[str, Any],
    seed: int,
    only: Sequence[int],
    outcome: str,
) -> bool:
    """Whether the trial of these sessions ends alike."""
    shorter = parse_scenario(source(scenario, overrides, seed, only, outcome), "replay")
    history = run_arm(shorter, shorter.arms[0], seed, lambda done, due: interrupts.check())
    interrupts.check()
    verdict, _ = judge_arm(history)
    return _sought(verdict, outcome)


def _sought(verdict: ArmVerdict, outcome: str) -> bool:
    """Whether it ended in ``outcome``, seen from outside where that is corruption.

    A row that was destroyed and that no reply shows is not what a client would complain of; it is
    what was sought where that is a broken invariant.
    """
    seen = verdict.sessions_corrupt > 0 if outcome == CORRUPT else True
    return verdict.verdict == verdict_of(outcome) and seen

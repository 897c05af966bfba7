"""A case shortened: each schedule tried by running it. One rule: what is written was run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab import interrupts
from lab.errors import LabError
from lab.judging import judge_arm
from lab.progress import counting
from lab.replaying.alone import expectation, save
from lab.replaying.case import wrong_turns
from lab.replaying.schedule import subject
from lab.replaying.shortening import Tries, shortened
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import ArmHistory, ArmVerdict
    from lab.replaying.case import Case
    from lab.replaying.schedule import Schedule, Subject


def shorten(case: Case, most: int, file: Path) -> dict[str, Any]:
    """Shorten the case's schedule; ``file`` holds the shortest so far as a scenario, so that an
    interruption loses nothing.
    """
    whole = subject(case.scenario, case.arm, case.run.seed)
    found: dict[Schedule, tuple[ArmHistory, ArmVerdict]] = {}

    def keep(schedule: Schedule, ended: tuple[ArmHistory, ArmVerdict]) -> None:
        found[schedule] = ended
        named = [case.stop.name] if case.stop.name else []
        save(file, whole.text(schedule, _name(case), expectation(ended[1].verdict, named)))

    def fails(schedule: Schedule) -> bool:
        ended = _ended(case, whole, schedule)
        if ended is not None:
            keep(schedule, ended)
        return ended is not None

    keep(whole.whole, (case.history, case.verdict))
    with counting(f"shortening session {case.session}", "tries") as tick:
        tries = Tries(fails, most, tick)
        best = shortened(whole.whole, tries)  # the last one that failed
    return {"scenario": str(file), **_document(whole, best, tries, *found[best])}


def _document(
    whole: Subject, best: Schedule, tries: Tries, history: ArmHistory, verdict: ArmVerdict
) -> dict[str, Any]:
    """What is left of the schedule, what was dropped, and how it ended."""
    return {
        "tries": tries.used,
        "tries_used_up": tries.short,
        "sessions": list(best.sessions),
        "sessions_planned": len(whole.whole.sessions),
        "turns": list(best.turns),
        "turns_planned": sum(whole.whole.turns),
        "deviations": {key: whole.deviations[key].value for key in best.kept},
        "dropped": {
            key: [it.value, it.silent]
            for key, it in whole.deviations.items()
            if key not in best.kept
        },
        "verdict": verdict.verdict,
        "violations": verdict.violations,
        "history_digest": history.history_digest,
    }


def _ended(case: Case, whole: Subject, schedule: Schedule) -> tuple[ArmHistory, ArmVerdict] | None:
    """The run of a schedule, if it fails alike: the same broken invariant, else a wrong reply.

    One that cannot be run does not fail.
    """
    try:
        scenario = parse_scenario(whole.text(schedule, _name(case), {}), "the shortened schedule")
        history = run_arm(scenario, scenario.arms[0], case.run.seed, _heard)
    except LabError:
        return None
    interrupts.check()
    verdict, findings = judge_arm(history)
    name = case.stop.name
    alike = name in verdict.violations if name else bool(wrong_turns(findings))
    return (history, verdict) if alike else None


def _name(case: Case) -> str:
    return f"{case.run.scenario}_session_{case.session}"


def _heard(done: int, due: int) -> None:
    """Ends a try that was interrupted."""
    interrupts.check()

"""A case shortened: each schedule tried by running it. One rule: what is written was run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lab import interrupts
from lab.errors import LabError
from lab.judging import judge_arm
from lab.progress import counting
from lab.replaying.alone import expectation, save
from lab.replaying.schedule import subject
from lab.replaying.shortening import Tries, shortened
from lab.replaying.stopping import wrong_turns
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import ArmHistory, ArmVerdict, Finding
    from lab.replaying.case import Case
    from lab.replaying.schedule import Schedule, Subject
    from lab.replaying.stopping import Stop


class Ended(NamedTuple):
    """The run of a schedule, judged."""

    history: ArmHistory
    verdict: ArmVerdict
    findings: Sequence[Finding]


def shorten(case: Case, most: int, file: Path) -> dict[str, Any]:
    """Shorten the case's schedule; ``file`` holds the shortest so far as a scenario, so that an
    interruption loses nothing.

    A file of an earlier call is left as it is until all is done, and where nothing shorter than
    the whole schedule is found.
    """
    whole = subject(case.scenario, case.arm, case.run.seed)
    found = {whole.whole: Ended(case.history, case.verdict, case.findings)}
    text = partial(_text, case, whole)
    there = file.exists()
    if not there:
        save(file, text(whole.whole, case.verdict))

    def fails(schedule: Schedule) -> bool:
        ended = _ended(case, whole, schedule)
        if ended is not None:
            found[schedule] = ended
            if not there:
                save(file, text(schedule, ended.verdict))
        return ended is not None

    with counting(f"shortening session {case.session}", "tries") as tick:
        tries = Tries(fails, most, tick, partial(_may_fail, case))
        best = shortened(whole.whole, tries)  # the last one that failed
    left = there and best == whole.whole
    if there and not left:
        save(file, text(best, found[best].verdict))
    return {
        "scenario": None if left else str(file),
        "left_as_it_was": str(file) if left else None,
        **_document(case, whole, best, tries, found[best]),
    }


def _document(
    case: Case, whole: Subject, best: Schedule, tries: Tries, ended: Ended
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
        "at_defaults": {f"engine.{key}": value for key, value in whole.plain.items()},
        "verdict": ended.verdict.verdict,
        "replies_corrupt": ended.verdict.replies_corrupt,
        "session": case.session,
        "stopped_turn": case.stop.wrong,
        "wrong_turns": wrong_turns(ended.findings, case.session),
        "violations": ended.verdict.violations,
        "history_digest": ended.history.history_digest,
    }


def _may_fail(case: Case, schedule: Schedule) -> bool:
    """Whether a schedule has the wrong reply's turn, where there was one."""
    return case.stop.wrong is None or schedule.has(case.session, case.stop.wrong)


def _ended(case: Case, whole: Subject, schedule: Schedule) -> Ended | None:
    """The run of a schedule, if it fails alike; one that cannot be run does not."""
    try:
        scenario = parse_scenario(whole.text(schedule, _name(case), {}), "the shortened schedule")
        history = run_arm(scenario, scenario.arms[0], case.run.seed, _heard)
    except LabError:
        return None
    interrupts.check()
    verdict, findings = judge_arm(history)
    return Ended(history, verdict, findings) if alike(case.stop, verdict, findings) else None


def alike(stop: Stop, verdict: ArmVerdict, findings: Sequence[Finding]) -> bool:
    """Whether an arm fails like the one that stopped: by the same broken invariant, and where the
    session had a wrong reply, with one of the session's.
    """
    named = stop.name is None or stop.name in verdict.violations
    return named and (stop.wrong is None or bool(wrong_turns(findings, stop.session)))


def _text(case: Case, whole: Subject, schedule: Schedule, verdict: ArmVerdict) -> str:
    """The scenario of a schedule, which must end alike."""
    named = [case.stop.name] if case.stop.name else []
    return whole.text(schedule, _name(case), expectation(verdict.verdict, named))


def _name(case: Case) -> str:
    return f"{case.run.scenario}_session_{case.session}"


def _heard(done: int, due: int) -> None:
    """Ends a try that was interrupted."""
    interrupts.check()

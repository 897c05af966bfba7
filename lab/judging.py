"""From what was observed to what it proves. One rule: PASS < UNKNOWN < FAIL, merged by the worst.

An arm's verdict is the first that holds:

``corrupt``           a reply that was due has a wrong text, or the ledger saw a row destroyed; or
                      the model, whose texts nobody knows, misses more than its control (`misses`)
``parser_fault``      the texts are right and some were parsed otherwise than they read; or a server
                      shows nearly every call as text, one at a time, too
``wedged``            the clock stalled, the engine said that it makes no progress, or a client
                      waited in vain while nothing at all went on
``nondeterministic``  an arm of equal configuration and seed, by a virtual clock, has another
                      history, or the same question another reply
``inconclusive``      replies are missing, a detector failed, a server does not run with what it
                      was asked to, a toggle was never exercised, or misses have no control, or may
                      be more than it has, or are more than another arm's
``clean``             every reply that was due came, and is right or no worse than the control's;
                      its reason tells how many tries failed before, which faults the engine had
                      meanwhile, and what was missed

Every reply that was due is counted, whatever its finish reason. Rates are per session, over the
sessions that show anything: one whose client left before its first answer was owed nothing, and one
of which no reply came whole, since the transport failed or time ran out, says nothing of what it
would have read. It stays among ``sessions``, as ``sessions_silent``, and keeps the arm from being
clean. Everything is read from the history, so a stored run can be judged again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab.asking import unlike_its_file
from lab.caches import asked_before
from lab.concluding import Beside, conclude
from lab.copies import stored_geometry
from lab.expecting import Expect, expected_verdict, expected_violations
from lab.exposure import boot_of, exposure, faults, is_foreign, violations
from lab.joins import joined
from lab.looked import Looked, by_detector, look, sessions
from lab.mismatches import mismatches
from lab.misses import Missed, as_alone, misses
from lab.records import (
    NO_DIGEST,
    ArmHistory,
    ArmVerdict,
    Asked,
    Comparison,
    Finding,
    RunVerdict,
)
from lab.rooms import counted, failures
from lab.stats import fisher, newcombe, wilson
from lab.unparsed import no_tool_parser

NOTHING = ("clean", "inconclusive")  # verdicts that show no failure


def judge_run(
    run: str,
    scenario: str,
    seed: int,
    histories: Sequence[ArmHistory],
    expect: Expect | None,
    how: Asked | None = None,
) -> tuple[RunVerdict, dict[str, list[Finding]]]:
    """All arms, each compared with the first; findings by the arm's name.

    ``how`` is what the run was asked with, if that may not be what ``expect`` holds for.
    """
    looked = [look(history, _twin(index, histories)) for index, history in enumerate(histories)]
    verdicts = [
        replace(verdict, caveat=_caveat(verdict, one.history, how))
        for one, missed in zip(looked, misses(looked), strict=True)
        for verdict in [_verdict(one, missed, _beside(one, looked), expect)]
    ]
    return RunVerdict(
        run=run,
        scenario=scenario,
        seed=seed,
        wall_s=sum(verdict.wall_s for verdict in verdicts),
        virtual_s=sum(verdict.virtual_s for verdict in verdicts),
        arms=tuple(verdicts),
        comparisons=tuple(compare(verdicts[0], other) for other in verdicts[1:]),
    ), {one.history.name: one.findings for one in looked}


def judge_arm(
    history: ArmHistory, expect: Expect | None = None, twin: ArmHistory | None = None
) -> tuple[ArmVerdict, list[Finding]]:
    """One arm by itself; ``twin`` is an arm that must have the same history."""
    looked = look(history, twin)
    return _verdict(looked, misses([looked])[0], Beside(), expect), looked.findings


def _beside(looked: Looked, arms: Sequence[Looked]) -> Beside:
    """What the other arms tell of one."""
    cache = asked_before(looked.history, [it.history for it in arms])
    return Beside(as_alone(looked, arms), no_tool_parser(looked, arms), cache)


def _verdict(looked: Looked, missed: Missed, beside: Beside, expect: Expect | None) -> ArmVerdict:
    """What is concluded, and every number behind it."""
    history, corrupt, judged = looked.history, sessions(looked.corrupt), len(looked.judged)
    verdict, reason = conclude(looked, missed, beside)
    return ArmVerdict(
        name=history.name,
        settings=history.settings,
        sessions=len(looked.owed),
        sessions_corrupt=len(corrupt),
        sessions_silent=len(looked.owed) - judged,
        sessions_missed=missed.missed,
        replies_due=sum(reply.due for reply in history.replies),
        replies_corrupt=len(looked.corrupt),
        replies_missed=len(looked.missed),
        unfinished=len(looked.unfinished()),
        rate=len(corrupt) / judged if judged else 0.0,
        ci95=wilson(len(corrupt), judged),
        ci95_missed=wilson(missed.missed, judged),
        outcomes=by_detector(looked.corrupt),
        missed=by_detector(looked.missed),
        control=missed.control,
        violations=violations(history.counters),
        exposure=exposure(counted(history), is_foreign(history)),
        verdict=verdict,
        expected=expected_verdict(expect, history.name),
        history_digest=history.history_digest,
        wall_s=history.wall_s,
        virtual_s=history.virtual_s,
        reason=reason,
        faults=faults(history.counters),
        expected_violations=expected_violations(expect, history.name),
        mismatches=mismatches(stored_geometry(history)),
        late_writes=tuple(joined(history)),
        room_failures=failures(history.rooms),
        boot=boot_of(history),
    )


def compare(a: ArmVerdict, b: ArmVerdict) -> Comparison:
    """Session rates side by side: Fisher's p, Newcombe's interval of a minus b; the same of wrong
    sessions where one of them missed any.
    """
    counts = (a.sessions_corrupt, a.sessions_judged, b.sessions_corrupt, b.sessions_judged)
    wrong = (a.sessions_wrong, a.sessions_judged, b.sessions_wrong, b.sessions_judged)
    missed = a.sessions_missed or b.sessions_missed
    return Comparison(
        a=a.name,
        b=b.name,
        test="fisher",
        p_value=fisher(*counts),
        difference_ci95=newcombe(*counts),
        p_value_missed=fisher(*wrong) if missed else None,
        difference_ci95_missed=newcombe(*wrong) if missed else None,
    )


def _caveat(verdict: ArmVerdict, history: ArmHistory, how: Asked | None) -> str:
    """Why an arm to which nothing happened does not contradict its file; empty where it does, or
    did: a smaller run may never meet what the file's arm meets.
    """
    if how is None or verdict.verdict not in NOTHING or verdict.expected in (None, verdict.verdict):
        return ""
    return unlike_its_file(how, history.name, history.sessions)


def _twin(index: int, histories: Sequence[ArmHistory]) -> ArmHistory | None:
    """An earlier arm with the same settings and number of sessions, hence the same history; none
    by a wall clock, or of a server that owes nobody the same batches.
    """
    mine = histories[index]
    if is_foreign(mine) or mine.history_digest == NO_DIGEST:
        return None
    for other in histories[:index]:
        if other.sessions == mine.sessions and _same(other.settings, mine.settings):
            return replace(other, events=[])
    return None


def _same(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)

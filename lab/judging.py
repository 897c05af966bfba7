"""From what was observed to what it proves. One rule: PASS < UNKNOWN < FAIL, merged by the worst.

An arm's verdict is the first that holds:

``corrupt``           a reply that was due has a wrong text, or the ledger saw a row destroyed
``parser_fault``      the texts are right and some were parsed otherwise than they read
``wedged``            the clock stalled, the engine said that it makes no progress, or a client
                      waited in vain while nothing at all went on
``nondeterministic``  an arm of equal configuration and seed has another history, or the same
                      question another reply
``inconclusive``      replies are missing, a detector failed, a server does not run with what it
                      was asked to, or a toggle was never exercised
``clean``             every reply that was due came, and is right; its reason tells how many tries
                      failed before, and which faults the engine had meanwhile

Rates are per session, over the sessions that were owed a reply: one whose client left before its
first answer shows nothing. Everything is read from the history, so a stored run can be judged
again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from lab.again import told_again
from lab.alike import alike
from lab.asking import unlike_its_file
from lab.copies import stored_geometry
from lab.detectors import Kind, examine, worst
from lab.detectors.surface import finished, whole
from lab.exposure import GENERATOR, boot_of, exposure, faults, is_foreign, unexercised, violations
from lab.joins import joined
from lab.mismatches import mismatches
from lab.planned import context_of, first_replies
from lab.records import ArmHistory, ArmVerdict, Asked, Comparison, Finding, RunVerdict
from lab.remedies import explained
from lab.rooms import counted, failures
from lab.stats import fisher, newcombe, wilson
from lab.targets.base import ENDED
from lab.wedge import wedge

# An arm's name or "*" -> an object with ``verdict`` and ``violations``, or a mapping with them.
Expect = Mapping[str, Any]
Place = tuple[int, int]  # session, turn
NAMED = 3  # reasons that are told in full
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
    verdicts: list[ArmVerdict] = []
    findings: dict[str, list[Finding]] = {}
    for index, history in enumerate(histories):
        verdict, findings[history.name] = judge_arm(history, expect, _twin(index, histories))
        verdicts.append(replace(verdict, caveat=_caveat(verdict, history, how)))
    return RunVerdict(
        run=run,
        scenario=scenario,
        seed=seed,
        wall_s=sum(verdict.wall_s for verdict in verdicts),
        virtual_s=sum(verdict.virtual_s for verdict in verdicts),
        arms=tuple(verdicts),
        comparisons=tuple(compare(verdicts[0], other) for other in verdicts[1:]),
    ), findings


def judge_arm(
    history: ArmHistory, expect: Expect | None = None, twin: ArmHistory | None = None
) -> tuple[ArmVerdict, list[Finding]]:
    """One arm by itself; ``twin`` is an arm that must have the same history."""
    texts = (
        {(r.session, r.turn): whole(r) for r in twin.replies if r.status == "ok"} if twin else {}
    )
    context = context_of(history.events, texts | first_replies(history))
    findings = [found for reply in history.replies for found in examine(reply, context)]
    named = _named(findings, Kind.CORRUPT)
    sessions = {session for session, _ in named}
    due = [reply for reply in history.replies if reply.due]
    owed = len({reply.session for reply in due})
    verdict, reason = _conclude(history, findings, twin)
    return ArmVerdict(
        name=history.name,
        settings=history.settings,
        sessions=owed,
        sessions_corrupt=len(sessions),
        replies_due=len(due),
        replies_corrupt=len(named),
        unfinished=len({_place(f) for f in findings if f.kind == Kind.UNFINISHED.value}),
        rate=len(sessions) / owed if owed else 0.0,
        ci95=wilson(len(sessions), owed),
        outcomes=dict(Counter(found.detector for found in named.values()).most_common()),
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
    ), findings


def compare(a: ArmVerdict, b: ArmVerdict) -> Comparison:
    """Session rates side by side: Fisher's p, Newcombe's interval of a minus b."""
    return Comparison(
        a=a.name,
        b=b.name,
        test="fisher",
        p_value=fisher(a.sessions_corrupt, a.sessions, b.sessions_corrupt, b.sessions),
        difference_ci95=newcombe(a.sessions_corrupt, a.sessions, b.sessions_corrupt, b.sessions),
    )


def expected_verdict(expect: Expect | None, name: str) -> str | None:
    """What the scenario expects of the arm, by its name or by ``*``."""
    wanted = _wanted(expect, name)
    if wanted is None or isinstance(wanted, str):
        return wanted
    verdict = wanted["verdict"] if isinstance(wanted, Mapping) else wanted.verdict
    return str(verdict)


def expected_violations(expect: Expect | None, name: str) -> tuple[str, ...]:
    """The violations and faults that the scenario wants named in the arm."""
    wanted = _wanted(expect, name)
    if wanted is None or isinstance(wanted, str):
        return ()
    if isinstance(wanted, Mapping):
        return tuple(wanted.get("violations", ()))
    return tuple(wanted.violations)


def _caveat(verdict: ArmVerdict, history: ArmHistory, how: Asked | None) -> str:
    """Why an arm to which nothing happened does not contradict its file; empty where it does, or
    did: a smaller run may never meet what the file's arm meets.
    """
    if how is None or verdict.verdict not in NOTHING or verdict.expected in (None, verdict.verdict):
        return ""
    return unlike_its_file(how, history.name, history.sessions)


def _wanted(expect: Expect | None, name: str) -> Any:
    return (expect or {}).get(name, (expect or {}).get("*"))


def _conclude(
    history: ArmHistory, findings: Sequence[Finding], twin: ArmHistory | None
) -> tuple[str, str]:
    """The verdict, and one phrase of reason where the numbers do not say it.

    What failed failed, whatever the server ran with: the reason then tells that it was not this
    configuration.
    """
    verdict, reason = _concluded(history, findings, twin)
    other = not_effective(history)
    if other and other not in reason:
        reason = f"{other}; {reason}" if reason else other
    return verdict, reason


def _concluded(
    history: ArmHistory, findings: Sequence[Finding], twin: ArmHistory | None
) -> tuple[str, str]:
    """The verdict on what happened."""
    broken, stuck = violations(history.counters), wedge(history) or ""
    if _named(findings, Kind.CORRUPT):
        return "corrupt", stuck
    if broken:
        who = "the server's own count" if is_foreign(history) else "the ledger"
        shown = f"no reply shows it, {who} does: {', '.join(broken)}"
        return "corrupt", f"{shown}; {stuck}" if stuck else shown
    if faults := _named(findings, Kind.PARSER_FAULT):
        return "parser_fault", next(iter(faults.values())).detail
    if stuck:
        return "wedged", stuck
    if twin is not None and twin.history_digest != history.history_digest:
        return "nondeterministic", f"{twin.name!r} is equal in all settings and went otherwise"
    if drifted := _named(findings, Kind.NONDETERMINISTIC):
        return "nondeterministic", told_again(history) or next(iter(drifted.values())).detail
    missing, beside = _missing(history, findings), _beside(history)
    said = "; ".join(part for part in (missing, beside) if part)
    return "inconclusive" if missing else "clean", said


def _beside(history: ArmHistory) -> str:
    """What the replies that came do not show: tries that failed before, the engine's faults, and
    that nobody watched the rows.
    """
    again = sum(max(0, reply.tries - 1) for reply in history.replies)
    found = [f"{name} {n}" for name, n in faults(history.counters).items()]
    tries = f"{again} {'try' if again == 1 else 'tries'} failed and"
    parts = [f"{tries} {'was' if again == 1 else 'were'} asked again"] if again else []
    parts += [f"faults: {', '.join(found)}"] if found else []
    parts += [told] if (told := told_again(history)) else []
    parts += [str(it["warning"]) for _, kind, it in history.events if kind == GENERATOR]
    if history.settings.get("ledger") == "off":
        parts.append("the ledger was off: judged by replies alone")
    return "; ".join(filter(None, parts))


def _missing(history: ArmHistory, findings: Sequence[Finding]) -> str:
    """Why an arm without a failure is not clean either; empty if it is."""
    if unknown := shows_nothing(history, findings):
        return unknown
    settings, counters = history.settings, history.counters
    keys = unexercised(settings, counters, is_foreign(history))
    never = [explained(key, settings, counters) for key in keys]
    return f"never exercised: {', '.join(never)}" if never else ""


def shows_nothing(history: ArmHistory, findings: Sequence[Finding]) -> str:
    """Why nothing is known of an arm without a failure, wherever it went: a death, replies that
    are missing, a detector that failed; else empty.
    """
    for _, kind, fields in history.events:
        if kind in ENDED:
            return f"{ENDED[kind]}{' '.join(str(fields.get('error')).split())}"
    due = sum(reply.due for reply in history.replies)
    if not any(reply.due and finished(reply) for reply in history.replies):
        return "no reply finished"
    unfinished = [found for found in findings if found.kind == Kind.UNFINISHED.value]
    if unfinished:
        many = len({_place(found) for found in unfinished})
        return f"{many} of {due} replies unfinished ({_details(unfinished)})"
    unknown = [f for f in findings if f.outcome == "unknown"]
    if unknown:
        return f"detector {unknown[0].detector} failed: {unknown[0].detail}"
    return not_effective(history)


def not_effective(history: ArmHistory) -> str:
    """Which settings the server was asked for and does not run with; empty where all took."""
    found = [fields for _, kind, fields in history.events if kind == "setting_not_effective"]
    told = [f"{it['key']} {it['asked']} runs as {it['effective']} ({it['where']})" for it in found]
    return f"did not take effect: {', '.join(told)}" if told else ""


def _details(unfinished: Sequence[Finding]) -> str:
    """Why replies are unfinished, and how many for each reason where there are several."""
    found = alike(it.detail for it in unfinished)
    if len(found) == 1:
        return next(iter(found))
    named, others = list(found.items())[:NAMED], list(found.values())[NAMED:]
    told = [f"{times}: {said}" for said, times in named]
    return "; ".join([*told, *([f"{sum(others)}: other reasons"] if others else [])])


def _named(findings: Sequence[Finding], kind: Kind) -> dict[Place, Finding]:
    """For each reply with a sure finding of ``kind``, the one under which it is counted."""
    firsts = {place: worst(list(of), kind) for place, of in groupby(findings, key=_place)}
    return {place: found for place, found in firsts.items() if found is not None}


def _place(found: Finding) -> Place:
    return found.session, found.turn


def _twin(index: int, histories: Sequence[ArmHistory]) -> ArmHistory | None:
    """An earlier arm with the same settings and number of sessions, hence the same history."""
    mine = histories[index]
    for other in histories[:index]:
        if other.sessions == mine.sessions and _same(other.settings, mine.settings):
            return replace(other, events=[])
    return None


def _same(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)

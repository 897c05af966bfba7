"""The verdict on one arm, and why. One rule: a reason says what the numbers beside it do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.again import told_again
from lab.alike import alike
from lab.detectors import Kind, named, place_of
from lab.detectors.surface import finished
from lab.exposure import WARNS, faults, is_foreign, unexercised, violations
from lab.remedies import explained
from lab.targets.base import ENDED
from lab.unparsed import no_reasoning_parser
from lab.wedge import wedge

if TYPE_CHECKING:
    from lab.looked import Looked
    from lab.misses import Missed
    from lab.records import ArmHistory, Finding

NAMED = 3  # reasons that are told in full


@dataclass(frozen=True)
class Beside:
    """What is known of an arm from the other ones: of its ``corrupt`` replies, that its server has
    no ``parser``, and what its ``cache`` held before it began. Empty where there is nothing to say.
    """

    corrupt: str = ""
    parser: str = ""
    cache: str = ""


def conclude(looked: Looked, missed: Missed, beside: Beside = Beside()) -> tuple[str, str]:
    """The verdict, and one phrase of reason where the numbers do not say it.

    What failed failed, whatever the server ran with: the reason then tells that it was not this
    configuration.
    """
    verdict, reason = _concluded(looked, missed, beside)
    other = not_effective(looked.history)
    if other and other not in reason:
        reason = f"{other}; {reason}" if reason else other
    return verdict, reason


def _concluded(looked: Looked, missed: Missed, beside: Beside) -> tuple[str, str]:
    """The verdict on what happened."""
    history, findings, twin = looked.history, looked.findings, looked.twin
    broken, stuck = violations(history.counters), wedge(history) or ""
    if looked.corrupt:
        return "corrupt", _joined(stuck, beside.corrupt, missed.reason)
    if broken:
        who = "the server's own count" if is_foreign(history) else "the ledger"
        told = f"no reply shows it, {who} does: {', '.join(broken)}"
        return "corrupt", _joined(told, stuck, missed.reason)
    if beside.parser:
        return "parser_fault", beside.parser
    if missed.verdict == "corrupt":
        return "corrupt", _joined(missed.reason, stuck, beside.cache)
    if faults := named(findings, Kind.PARSER_FAULT):
        return "parser_fault", _joined(next(iter(faults.values())).detail, missed.reason)
    if stuck:
        return "wedged", _joined(stuck, missed.reason)
    if twin is not None and twin.history_digest != history.history_digest:
        said = f"{twin.name!r} is equal in all settings and went otherwise"
        return "nondeterministic", _joined(said, missed.reason)
    if drifted := named(findings, Kind.NONDETERMINISTIC):
        said = told_again(history) or next(iter(drifted.values())).detail
        return "nondeterministic", _joined(said, missed.reason)
    missing = _missing(history, findings)
    unsure = missing or missed.verdict == "inconclusive"
    said = _joined(missing, missed.reason, _beside(history), beside.cache)
    return "inconclusive" if unsure else "clean", said


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


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
    parts += [str(it["warning"]) for _, kind, it in history.events if kind in WARNS]
    if history.settings.get("ledger") == "off":
        parts.append("the ledger was off: judged by replies alone")
    parts.append(no_reasoning_parser(history))
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
        many = len({place_of(found) for found in unfinished})
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

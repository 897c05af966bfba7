"""Which arm of one run is held against which of another, and the test of each pair.

One rule: what is tested is what is told. Sessions are paired only where every one of either arm has
a partner that was asked the same, so that the test's rates are those of all sessions; else the arms
are two samples. Repetitions of an arm are one arm, whose boots are the unit. Where an arm missed
what no text is known of, missed sessions count as corrupt ones do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.repeats import BY_BOOT, Repeated, compared, together
from lab.stats import CONFIDENCE, Interval, fisher, mcnemar, newcombe, paired_difference

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict

MCNEMAR, FISHER = "McNemar, exact, paired sessions", "Fisher, exact"


@dataclass(frozen=True)
class Shown:
    """What is known of an arm's sessions, by number: whether each that shows anything is corrupt,
    and a digest of what each was asked.
    """

    corrupt: Mapping[int, bool]
    asked: Mapping[int, str]


@dataclass(frozen=True)
class Tested:
    """What a pair of arms shows: the rate of B minus that of A, with an interval that holds with
    the others' at 95 %; of wrong sessions where ``missed_too``: what was missed counts as well.
    """

    test: str
    p_value: float
    difference: float
    ci95: Interval
    pairs: int | None = None  # sessions that were paired
    unpaired: tuple[int, int] | None = None  # sessions of A, of B without a partner
    missed_too: bool = False


def arms_of(verdict: RunVerdict) -> list[Repeated]:
    """The arms of a run, repetitions taken together."""
    found = together(verdict)
    return list(found.arms) if found else [Repeated(arm, (arm,)) for arm in verdict.arms]


def matched(
    a: Sequence[Repeated], b: Sequence[Repeated]
) -> tuple[list[tuple[Repeated, Repeated]], list[Repeated], list[Repeated]]:
    """Arms of one name, then of one configuration; and what is left of either run."""
    named = {arm.arm.name: arm for arm in b}
    pairs = [(arm, named[arm.arm.name]) for arm in a if arm.arm.name in named]
    left = [arm for arm in a if arm.arm.name not in named]
    known = {arm.arm.name for arm in a}
    free = [arm for arm in b if arm.arm.name not in known]
    for arm in list(left):
        same = [it for it in free if it.arm.settings == arm.arm.settings]
        if same:
            pairs.append((arm, same[0]))
            left.remove(arm)
            free.remove(same[0])
    return pairs, left, free


def shows(a: Repeated, b: Repeated) -> bool:
    """Whether there is anything to test: a session of either arm shows something."""
    return bool(a.arm.sessions_judged and b.arm.sessions_judged)


def partners(one: Mapping[int, str], other: Mapping[int, str]) -> set[int]:
    """Sessions that were asked the same on both sides, turn for turn."""
    return {session for session, asked in one.items() if other.get(session) == asked}


def tested(
    a: Repeated, b: Repeated, one: Shown | None, other: Shown | None, arms: int = 1
) -> Tested:
    """The test that fits: by boots where there are several, by pairs of sessions where each has a
    partner, else of two rates. ``arms`` are tested together; intervals hold for all at once.
    """
    confidence = 1 - (1 - CONFIDENCE) / arms
    missed = bool(a.arm.sessions_missed or b.arm.sessions_missed)
    apart = b.arm.sessions_wrong / b.arm.sessions_judged
    apart -= a.arm.sessions_wrong / a.arm.sessions_judged
    if len(a.parts) > 1 or len(b.parts) > 1:
        found = compared(_called(b, "b"), _called(a, "a"), confidence)
        p, ends = found.p_value, found.difference_ci95
        if found.p_value_missed is not None and found.difference_ci95_missed is not None:
            p, ends = found.p_value_missed, found.difference_ci95_missed
        test = BY_BOOT if found.test == BY_BOOT else FISHER
        return Tested(test, p, apart, ends, missed_too=missed)
    alone = None
    if not missed and one and other and _fits(one, a.arm) and _fits(other, b.arm):
        both = partners(one.asked, other.asked) & one.corrupt.keys() & other.corrupt.keys()
        alone = len(one.corrupt) - len(both), len(other.corrupt) - len(both)
        if not any(alone):
            pairs = [(other.corrupt[session], one.corrupt[session]) for session in sorted(both)]
            ends = paired_difference(pairs, confidence)
            return Tested(MCNEMAR, mcnemar(pairs), apart, ends, len(pairs))
    own = (b.arm.sessions_wrong, b.arm.sessions_judged)
    against = (a.arm.sessions_wrong, a.arm.sessions_judged)
    ends = newcombe(*own, *against, confidence)
    return Tested(FISHER, fisher(*own, *against), apart, ends, None, alone, missed)


def _fits(shown: Shown, arm: ArmVerdict) -> bool:
    """Whether the sessions are those of which the verdict speaks."""
    told = arm.sessions_corrupt, arm.sessions_judged
    return (sum(shown.corrupt.values()), len(shown.corrupt)) == told


def _called(arm: Repeated, name: str) -> Repeated:
    return replace(arm, arm=replace(arm.arm, name=name))

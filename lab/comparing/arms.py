"""Which arm of one run is held against which of another, and the test of each pair.

One rule: sessions are paired only where both runs asked the same of them: equal seed, equal
workload. Repetitions of an arm are one arm, whose boots are the unit. Where an arm missed what no
text is known of, missed sessions count as corrupt ones do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.repeats import Repeated, compared, together
from lab.stats import Interval, fisher, mcnemar, newcombe, paired_difference

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict

Outcomes = Mapping[int, bool]  # by session that shows anything: whether it is corrupt
MCNEMAR, FISHER = "McNemar, exact, paired sessions", "Fisher, exact"


@dataclass(frozen=True)
class Tested:
    """What a pair of arms shows: the rate of B minus that of A, with its 95 % interval; of wrong
    sessions where ``missed_too``: what was missed counts as well.
    """

    test: str
    p_value: float
    difference: float
    ci95: Interval
    pairs: int | None = None  # sessions that were paired
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


def tested(a: Repeated, b: Repeated, one: Outcomes | None, other: Outcomes | None) -> Tested:
    """The test that fits: by boots where there are several, by pairs of sessions where their
    outcomes are known of both, else of two rates.
    """
    missed = bool(a.arm.sessions_missed or b.arm.sessions_missed)
    apart = _rate(b.arm) - _rate(a.arm)
    if len(a.parts) > 1 or len(b.parts) > 1:
        found = compared(_called(b, "b"), _called(a, "a"))
        p, ends = found.p_value, found.difference_ci95
        if found.p_value_missed is not None and found.difference_ci95_missed is not None:
            p, ends = found.p_value_missed, found.difference_ci95_missed
        return Tested(found.test, p, apart, ends, missed_too=missed)
    if not missed and one is not None and other is not None:
        both = [(other[session], one[session]) for session in sorted(one) if session in other]
        if both and _fits(one, a.arm) and _fits(other, b.arm):
            return _paired(both)
    own = (b.arm.sessions_wrong, b.arm.sessions_judged)
    against = (a.arm.sessions_wrong, a.arm.sessions_judged)
    ends = newcombe(*own, *against)
    return Tested(FISHER, fisher(*own, *against), apart, ends, missed_too=missed)


def _rate(arm: ArmVerdict) -> float:
    return arm.sessions_wrong / arm.sessions_judged if arm.sessions_judged else 0.0


def _paired(both: Sequence[tuple[bool, bool]]) -> Tested:
    n = len(both)
    apart = sum(b - a for b, a in both) / n
    return Tested(MCNEMAR, mcnemar(both), apart, paired_difference(both), n)


def _fits(outcomes: Outcomes, arm: ArmVerdict) -> bool:
    """Whether the sessions are those of which the verdict speaks."""
    return (sum(outcomes.values()), len(outcomes)) == (arm.sessions_corrupt, arm.sessions_judged)


def _called(arm: Repeated, name: str) -> Repeated:
    return replace(arm, arm=replace(arm.arm, name=name))

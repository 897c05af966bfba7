"""Repetitions of an arm, taken together. One rule: what could not differ counts once.

An arm's repetitions have its settings and its name with ` #2`, ` #3` … behind it, as
`lab.scenario.rounds` makes them. A rate is then that of all their sessions. Intervals, of a rate
and of a difference, take a boot for the unit where boots differ more than their sessions do; p is
the larger of Fisher's and that of dealing whole boots, since two or three boots seldom show that
they differ, and cannot show less than `least_p`. Arms that the same boots served are not parted by
them, and have Fisher's; so have rounds of one server that do not differ. A repetition with the same
history, as every one by a virtual clock has, is no further evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import TYPE_CHECKING, Any, TypeVar

from lab.records import NO_DIGEST, Comparison
from lab.stats import (
    CONFIDENCE,
    boot_correlation,
    clustered,
    design_effect,
    fisher,
    least_p,
    permuted_boots,
    wilson,
    with_effect,
)

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, RunVerdict
    from lab.stats import Correlation, Counts, Interval

OfArm = TypeVar("OfArm", "ArmVerdict", "ArmHistory")
AGAIN = re.compile(r"(?P<of>.+) #\d+")
WORST = ("corrupt", "parser_fault", "wedged", "nondeterministic", "inconclusive", "clean")
ALPHA = 0.05  # below it, boots differ more than their sessions
FISHER, BY_BOOT = "fisher", "permutation by boot"


@dataclass(frozen=True)
class Repeated:
    """An arm with its repetitions, ``parts``; ``arm`` is what they are together."""

    arm: ArmVerdict
    parts: tuple[ArmVerdict, ...]

    @property
    def counted(self) -> tuple[ArmVerdict, ...]:
        """The parts that count: of those with one history the first."""
        return counted(self.parts)

    @property
    def counts(self) -> list[tuple[int, int]]:
        """Corrupt sessions, and sessions that show anything, a boot each."""
        return [(part.sessions_corrupt, part.sessions_judged) for part in self.counted]

    @property
    def wrong(self) -> list[tuple[int, int]]:
        """The same of sessions that are corrupt or missed."""
        return [(part.sessions_wrong, part.sessions_judged) for part in self.counted]

    @property
    def booted(self) -> bool:
        """Whether each part had a boot of its own."""
        return all(part.boot for part in self.counted)

    @property
    def correlation(self) -> Correlation:
        """How alike sessions of one boot are."""
        return boot_correlation(self.counts)

    @property
    def differ(self) -> bool:
        """Whether boots differ more than their sessions do."""
        return differ(self.counts)

    def document(self) -> dict[str, Any]:
        """For `--json`; the parts stand in ``arms``."""
        found = self.correlation
        return {
            "name": self.arm.name,
            "arms": [part.name for part in self.parts],
            "boots": [part.boot for part in self.parts],
            "counted": [part.name for part in self.counted],
            "sessions": self.arm.sessions,
            "sessions_corrupt": self.arm.sessions_corrupt,
            "rate": self.arm.rate,
            "ci95": list(self.arm.ci95),
            "sessions_missed": self.arm.sessions_missed,
            "rate_missed": self.arm.rate_missed,
            "ci95_missed": list(self.arm.ci95_missed),
            "by_boot": [list(pair) for pair in self.counts],
            "boots_rho": round(found.rho, 4),
            "boots_p_value": found.p_value,
            "boots_differ": self.differ,
            "verdict": self.arm.verdict,
        }


@dataclass(frozen=True)
class Together:
    """A run whose arms were repeated: each arm once, in ``verdict``, and of what it is made."""

    verdict: RunVerdict
    arms: tuple[Repeated, ...]

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        first, *others = self.arms
        pairs = zip(self.verdict.comparisons, others, strict=True)
        return {
            "arms": [arm.document() for arm in self.arms],
            "comparisons": [
                {
                    "a": pair.a,
                    "b": pair.b,
                    "test": pair.test,
                    "p_value": pair.p_value,
                    "difference_ci95": list(pair.difference_ci95),
                    "p_value_missed": pair.p_value_missed,
                    "difference_ci95_missed": pair.difference_ci95_missed,
                    "fisher_p_value": _fisher(first.counts, other.counts),
                    "by_boot_p_value": permuted_boots(first.counts, other.counts),
                    "by_boot_least_p_value": least_p(len(first.counts), len(other.counts)),
                }
                for pair, other in pairs
            ],
        }


def together(verdict: RunVerdict) -> Together | None:
    """The run with the repetitions of each arm as one; None where no arm was repeated."""
    groups: dict[str, list[ArmVerdict]] = {}
    known = {arm.name: arm for arm in verdict.arms}
    for arm in verdict.arms:
        groups.setdefault(first_of(arm, known).name, []).append(arm)
    if len(groups) == len(verdict.arms):
        return None
    arms = tuple(_repeated(parts) for parts in groups.values())
    pairs = tuple(compared(arms[0], other) for other in arms[1:])
    return Together(replace(verdict, arms=tuple(it.arm for it in arms), comparisons=pairs), arms)


def whole(verdict: RunVerdict) -> RunVerdict:
    """The run as it is told: each arm once, with all of its repetitions."""
    found = together(verdict)
    return verdict if found is None else found.verdict


def counted(parts: Sequence[ArmVerdict]) -> tuple[ArmVerdict, ...]:
    """The parts without those whose history an earlier one has, event for event."""
    seen: dict[str, ArmVerdict] = {}
    for part in parts:
        own = part.name if part.history_digest == NO_DIGEST else part.history_digest
        seen.setdefault(own, part)
    return tuple(seen.values())


def compared(a: Repeated, b: Repeated, confidence: float = CONFIDENCE) -> Comparison:
    """Two arms by all their sessions, and by their boots where there are several.

    The interval is Newcombe's, over sessions that count for as little as those of the arm whose
    boots differ more: boots that all came out clean may differ as much.
    """
    by_boot = _by_boot(a, b)
    p, test = _p(a.counts, b.counts, by_boot)
    apart = _difference(a.counts, b.counts, confidence)
    if not (a.arm.sessions_missed or b.arm.sessions_missed):
        return Comparison(a.arm.name, b.arm.name, test, p, apart)
    p_wrong, _ = _p(a.wrong, b.wrong, by_boot)
    wrong = _difference(a.wrong, b.wrong, confidence)
    return Comparison(a.arm.name, b.arm.name, test, p, apart, p_wrong, wrong)


def _by_boot(a: Repeated, b: Repeated) -> bool:
    """Whether there are several boots, of which each served one of the two arms alone; or several
    rounds that differ.
    """
    boots = [{part.boot for part in arm.counted if part.boot} for arm in (a, b)]
    several = len(a.counted) + len(b.counted) > 2
    apart = (a.booted and b.booted) or a.differ or b.differ
    return several and not boots[0] & boots[1] and apart


def differ(counts: Counts) -> bool:
    """Whether boots differ more than their sessions do."""
    return boot_correlation(counts).p_value < ALPHA


def interval(counts: Counts) -> Interval:
    """Of a rate, k of n a boot: Wilson's, with a boot for the unit where boots differ."""
    return clustered(counts) if differ(counts) else wilson(*_total(counts))


def first_of(arm: OfArm, known: Mapping[str, OfArm]) -> OfArm:
    """The arm that this one repeats, by its name; itself where it repeats none."""
    again = AGAIN.fullmatch(arm.name)
    of = known.get(again["of"]) if again else None
    return of if of is not None and of.settings == arm.settings else arm


def _repeated(parts: Sequence[ArmVerdict]) -> Repeated:
    return Repeated(_summed(parts) if len(parts) > 1 else parts[0], tuple(parts))


def _summed(parts: Sequence[ArmVerdict]) -> ArmVerdict:
    """The parts as one arm: numbers are sums, the verdict is the worst."""
    kept = counted(parts)
    corrupt, judged = (
        sum(getattr(part, name) for part in kept)
        for name in ("sessions_corrupt", "sessions_judged")
    )
    worst = min(parts, key=lambda part: WORST.index(part.verdict))
    return replace(
        parts[0],
        sessions=sum(part.sessions for part in kept),
        sessions_corrupt=corrupt,
        sessions_silent=sum(part.sessions_silent for part in kept),
        sessions_missed=sum(part.sessions_missed for part in kept),
        replies_missed=sum(part.replies_missed for part in kept),
        missed=_sums(part.missed for part in kept),
        replies_due=sum(part.replies_due for part in kept),
        replies_corrupt=sum(part.replies_corrupt for part in kept),
        unfinished=sum(part.unfinished for part in kept),
        rate=corrupt / judged if judged else 0.0,
        ci95=interval([(part.sessions_corrupt, part.sessions_judged) for part in kept]),
        ci95_missed=interval([(part.sessions_missed, part.sessions_judged) for part in kept]),
        control=next((part.control for part in parts if part.control), ""),
        outcomes=_sums(part.outcomes for part in kept),
        violations=_sums(part.violations for part in kept),
        faults=_sums(part.faults for part in kept),
        exposure=_sums(part.exposure for part in kept),
        room_failures=_sums(part.room_failures for part in kept),
        verdict=worst.verdict,
        reason=worst.reason,
        caveat=next((part.caveat for part in parts if part.caveat), ""),
        wall_s=sum(part.wall_s for part in parts),
        virtual_s=sum(part.virtual_s for part in parts),
        mismatches=tuple(dict.fromkeys(it for part in parts for it in part.mismatches)),
        late_writes=tuple(it for part in kept for it in part.late_writes),
        boot=None,
    )


def _sums(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _p(a: Counts, b: Counts, by_boot: bool) -> tuple[float, str]:
    """The larger p, and whose it is."""
    by_session = _fisher(a, b)
    dealt = permuted_boots(a, b) if by_boot else 0.0
    return max(by_session, dealt), BY_BOOT if dealt > by_session else FISHER


def _fisher(a: Counts, b: Counts) -> float:
    return fisher(*_total(a), *_total(b))


def _total(counts: Counts) -> tuple[int, int]:
    return sum(k for k, _ in counts), sum(n for _, n in counts)


def _difference(a: Counts, b: Counts, confidence: float) -> Interval:
    (k1, n1), (k2, n2) = _total(a), _total(b)
    if not (n1 and n2):
        return -1.0, 1.0
    effect = max(design_effect(it, confidence) if differ(it) else 1.0 for it in (a, b))
    low1, high1 = with_effect(k1, n1, effect, confidence)
    low2, high2 = with_effect(k2, n2, effect, confidence)
    one, other = k1 / n1, k2 / n2
    below, above = hypot(one - low1, high2 - other), hypot(high1 - one, other - low2)
    return one - other - below, one - other + above

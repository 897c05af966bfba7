"""Repetitions of an arm, taken together. One rule: what could not differ counts once.

An arm's repetitions have its settings and its name with ` #2`, ` #3` … behind it, as
`lab.scenario.rounds` makes them. A rate is then that of all their sessions; its interval and its
test take a boot for the unit where boots differ more than their sessions do. A repetition with the
same history, as every one by a virtual clock has, is no further evidence.
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
    boot_correlation,
    clustered,
    design_effect,
    fisher,
    least_p,
    permuted_boots,
    with_effect,
)

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, RunVerdict
    from lab.stats import Correlation, Interval

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
    def correlation(self) -> Correlation:
        """How alike sessions of one boot are."""
        return boot_correlation(self.counts)

    @property
    def differ(self) -> bool:
        """Whether boots differ more than their sessions do."""
        return self.correlation.p_value < ALPHA

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
                    "fisher_p_value": _fisher(first, other),
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


def compared(a: Repeated, b: Repeated) -> Comparison:
    """Two arms by all their sessions, or by their boots where those of one of them differ.

    The interval is Newcombe's, over sessions that count for as little as those of the arm whose
    boots differ more: boots that all came out clean may differ as much.
    """
    by_boot = a.differ or b.differ
    effect = max(design_effect(a.counts), design_effect(b.counts)) if by_boot else 1.0
    p = permuted_boots(a.counts, b.counts) if by_boot else _fisher(a, b)
    test = BY_BOOT if by_boot else FISHER
    return Comparison(a.arm.name, b.arm.name, test, p, _difference(a.arm, b.arm, effect))


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
        ci95=clustered([(part.sessions_corrupt, part.sessions_judged) for part in kept]),
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


def _fisher(a: Repeated, b: Repeated) -> float:
    one, other = a.arm, b.arm
    own = (one.sessions_corrupt, one.sessions_judged)
    return fisher(*own, other.sessions_corrupt, other.sessions_judged)


def _difference(a: ArmVerdict, b: ArmVerdict, effect: float) -> Interval:
    if not (a.sessions_judged and b.sessions_judged):
        return -1.0, 1.0
    low1, high1 = with_effect(a.sessions_corrupt, a.sessions_judged, effect)
    low2, high2 = with_effect(b.sessions_corrupt, b.sessions_judged, effect)
    apart = a.rate - b.rate
    below, above = hypot(a.rate - low1, high2 - b.rate), hypot(high1 - a.rate, b.rate - low2)
    return apart - below, apart + above

"""What was seen where all culprits are bad, beside where they are not.

One rule: only what the trials counted, of the probes that rates are compared of, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.bisect.contrast import asked
from lab.bisect.trials import Trial, sessions, summed

if TYPE_CHECKING:
    from lab.bisect.conclusion import Conclusion
    from lab.bisect.notebook import Probe


@dataclass(frozen=True)
class Seen:
    """Some trials added up; ``reach`` are the calls of each copy path."""

    trials: int = 0
    sessions: int = 0
    corrupt: int = 0  # sessions
    violations: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    exposure: dict[str, int] = field(default_factory=dict)
    reach: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """The arms in which every culprit is bad, against the arms in which one is good."""

    culprit: Seen
    cleared: Seen


def evidence(probes: Sequence[Probe], found: Conclusion, offered: Collection[str] = ()) -> Evidence:
    """Add up both sides; without culprits the first side has every toggle ``offered`` bad."""
    culprits = frozenset(found.culprits or offered)
    sides = {True: list[Trial](), False: list[Trial]()}
    for probe in asked(probes, found):
        sides[culprits <= probe.config.bad] += probe.outcome
    return Evidence(seen(sides[True]), seen(sides[False]))


def seen(trials: Iterable[Trial]) -> Seen:
    """Everything that the trials counted."""
    every = list(trials)
    return Seen(
        trials=len(every),
        sessions=sessions(every),
        corrupt=sum(trial.corrupt for trial in every),
        violations=summed(trial.violations for trial in every),
        faults=summed(trial.faults for trial in every),
        exposure=summed(trial.exposure for trial in every),
        reach=summed(trial.reach for trial in every),
    )

"""What was seen where all culprits are bad, beside where they are not.

One rule: only what the trials counted; a configuration with a culprit at a level between good and
bad belongs to neither side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.bisect.trials import Trial, sessions, summed

if TYPE_CHECKING:
    from lab.bisect.notebook import Probe
    from lab.bisect.space import Config


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


def evidence(probes: Sequence[Probe], culprits: Collection[str]) -> Evidence:
    """Add up both sides; without culprits name every toggle, and the first side is all bad."""
    sides = {True: list[Trial](), False: list[Trial]()}
    for probe in probes:
        side = _side(probe.config, culprits)
        if side is not None:
            sides[side] += probe.outcome
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


def _side(config: Config, culprits: Collection[str]) -> bool | None:
    """Whether every culprit is bad; None where one of them is at a level between."""
    if any(key in culprits for key, _ in config.levels):
        return None
    return all(key in config.bad for key in culprits)

"""What a probe answers, and how it is counted. One rule: what shows neither is not counted.

A *trial* is one load that one boot served: a batch of sessions with one seed. A *unit* is what is
counted as corrupt or not: a session, or a whole trial where sessions of one boot correlate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Unit(StrEnum):
    """What one observation is."""

    SESSION = "session"
    BOOT = "boot"


@dataclass(frozen=True)
class Trial:
    """One load that one boot served, judged.

    ``index`` numbers its seed: trials of one index have the same load in every configuration.
    ``sessions`` were owed a reply, ``corrupt`` of them were corrupt. ``unknown`` says why a trial
    without a corrupt session shows nothing either (it wedged, replies are missing); where wedges
    are what is sought, who waits for what.
    """

    index: int
    sessions: int
    corrupt: int
    unknown: str = ""
    verdict: str = ""  # of the judges, on this trial by itself
    seed: int = 0
    violations: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)
    exposure: Mapping[str, int] = field(default_factory=dict)
    reach: Mapping[str, int] = field(default_factory=dict)  # calls of each copy path, zeros too
    digest: str = ""
    wall_s: float = 0.0

    @property
    def counted(self) -> bool:
        """Whether it shows anything."""
        return self.corrupt > 0 or (not self.unknown and self.sessions > 0)


Outcome = tuple[Trial, ...]


@dataclass(frozen=True)
class Tally:
    """``corrupt`` of ``units`` units."""

    units: int = 0
    corrupt: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.units + other.units, self.corrupt + other.corrupt)

    @property
    def rate(self) -> float:
        """Corrupt units among all; 0.0 of none."""
        return self.corrupt / self.units if self.units else 0.0


def tally(trials: Iterable[Trial], unit: Unit) -> Tally:
    """How many units the trials show, and how many of them corrupt."""
    counted = [trial for trial in trials if trial.counted]
    if unit is Unit.BOOT:
        return Tally(len(counted), sum(trial.corrupt > 0 for trial in counted))
    return Tally(sum(t.sessions for t in counted), sum(t.corrupt for t in counted))


def sessions(trials: Iterable[Trial]) -> int:
    """Sessions that were driven, whatever they show."""
    return sum(trial.sessions for trial in trials)


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counters added up by name; a zero that was counted stays."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(dict(one))
    return dict(total)

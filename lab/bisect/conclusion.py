"""What a bisection concludes. One rule: a rate stands with its units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.bisect.space import Config
    from lab.bisect.trials import Tally, Unit


class Verdict(StrEnum):
    """How it ended."""

    CONFIRMED = "CONFIRMED"  # discovered, and held up on fresh seeds
    SUSPECT = "SUSPECT"  # discovered; confirmation was not asked for, or ran out of budget
    UNDETERMINED = "UNDETERMINED"  # the budget ended with several sets left
    NOT_REPRODUCED = "NOT-REPRODUCED"  # all toggles bad, and clean
    NOT_CONTROLLED = "NOT-CONTROLLED"  # all toggles good, and corrupt
    INVALID = "INVALID"  # an arm never went where its settings point, or shows nothing
    LIVENESS = "LIVENESS"  # no reply is wrong: the target makes no progress


class Role(StrEnum):
    """What one toggle has to do with it."""

    NECESSARY = "NECESSARY"  # good: the corruption is gone
    AGGRAVATING = "AGGRAVATING"  # good: rarer, and not gone
    INNOCENT = "INNOCENT"  # not needed, seen good and bad; a smaller change of rate is not excluded
    NOT_SEPARABLE = "NOT SEPARABLE"  # what was run cannot tell


@dataclass(frozen=True)
class Arm:
    """A configuration of the confirmation, or of the control, and what it showed."""

    name: str
    config: Config
    tally: Tally
    upper: float = 1.0  # of the rate, at 1 - alpha
    lower: float = 0.0
    e_value: float | None = None  # against the arm with all toggles bad


@dataclass(frozen=True)
class Bracket:
    """Where a numeric knob turns: clean at one level, corrupt at the next one tried, never a point.

    ``clean_below`` is None where every level is corrupt, ``bad_above`` where none is. ``steps`` are
    the levels tried, from good to bad, with what they showed.
    """

    toggle: str
    clean_below: Any
    bad_above: Any
    steps: tuple[tuple[Any, Tally], ...] = ()
    monotone: bool = True
    posterior: float = 0.0


@dataclass(frozen=True)
class Belief:
    """What was believed after one probe: ``sets`` from the likeliest down, with probabilities."""

    spent: int
    sets: tuple[tuple[tuple[str, ...], float], ...]


@dataclass(frozen=True)
class Discovery:
    """What a method found: a culprit set, or why it did not.

    ``culprits`` is None where several sets are left, empty where no toggle is to blame. ``context``
    are the toggles that were bad in the configuration in which the culprits were sought: all, or
    fewer where several causes had to be told apart.
    """

    culprits: tuple[str, ...] | None
    context: tuple[str, ...]
    posterior: float = 0.0  # of the culprits; 0.0 for methods that have none
    candidates: tuple[tuple[str, ...], ...] = ()
    reason: str = ""
    several: bool = False  # whether no single set explains what was seen


@dataclass(frozen=True)
class Conclusion:
    """The whole verdict."""

    verdict: Verdict
    reason: str  # one line
    unit: Unit
    method: str
    culprits: tuple[str, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    sufficient: bool | None = None  # None: not tested
    context: tuple[str, ...] = ()  # toggles that were bad in every confirmed arm besides culprits
    posterior: float = 0.0
    candidates: tuple[tuple[str, ...], ...] = ()  # sets that the data do not exclude
    bad: Tally | None = None  # with all toggles bad
    good: Tally | None = None  # with all culprits good, or at the baseline
    arms: tuple[Arm, ...] = ()
    thresholds: tuple[Bracket, ...] = ()
    beliefs: tuple[Belief, ...] = ()
    spent: int = 0
    others: tuple[str, ...] = ()  # sentences: what else was seen (a second cause, a refused arm)

"""What the background does not explain. One rule: every phase asks this the same way.

An exact checker has no background, so one corrupt unit is enough. Else the bound is a confidence
sequence's, since counts are looked at after every probe; a search asks of the same counts again
and again, so bounds are remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from lab.stats import sequence

if TYPE_CHECKING:
    from lab.bisect.trials import Tally


class Held(Protocol):
    """What a count is held to."""

    @property
    def exact(self) -> bool:
        """Whether the checker never errs."""

    @property
    def p_tol(self) -> float:
        """The most that the background may have."""

    @property
    def alpha(self) -> float:
        """The error allowed."""


def beyond(counts: Tally, to: Held, looks: int = 1) -> bool:
    """Whether more is corrupt than a background of ``p_tol``; ``looks`` counts share alpha."""
    if to.exact or not counts.corrupt:
        return counts.corrupt > 0
    return least(counts, to.alpha / looks) > to.p_tol


@lru_cache(maxsize=4096)
def least(counts: Tally, alpha: float) -> float:
    """The least that a rate may be, for a count that is looked at after every probe."""
    return sequence(counts.corrupt, counts.units, alpha)[0]

"""Tests that call one configuration bad or good. One rule: errors are bounded at both rates.

`FixedSize`   n units, bad above a count: both errors at most alpha at the two rates
`FirstProof`  the same bounds, but it ends with the unit that settles it
`Wald`        Wald's sequential test (1945): no fixed size, the fewest units on average
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from lab.stats import Sprt

if TYPE_CHECKING:
    from lab.bisect.trials import Tally

MOST_UNITS = 100_000


@dataclass(frozen=True)
class FixedSize:
    """Bad with more than ``most`` corrupt of ``units``; of more units, with a higher share."""

    units: int
    most: int

    def wanted(self, seen: Tally) -> int:
        """All that are missing, at once."""
        return self.units - seen.units

    def verdict(self, seen: Tally) -> bool | None:
        """Nothing before all units are there."""
        return _exceeds(seen, self.units, self.most) if seen.units >= self.units else None


@dataclass(frozen=True)
class FirstProof:
    """`FixedSize`, unit by unit: one corrupt too many ends it."""

    units: int
    most: int

    def wanted(self, seen: Tally) -> int:
        """One at a time."""
        return 1

    def verdict(self, seen: Tally) -> bool | None:
        """Bad as soon as it shows, good after all units."""
        if seen.units >= self.units:
            return _exceeds(seen, self.units, self.most)
        return True if seen.corrupt > self.most else None


@dataclass(frozen=True)
class Wald:
    """The sequential ratio test of ``p1`` against ``p0``; errors sum to at most ``2 * alpha``."""

    p1: float
    p0: float
    alpha: float

    def wanted(self, seen: Tally) -> int:
        """One at a time."""
        return 1

    def verdict(self, seen: Tally) -> bool | None:
        """As the likelihood ratio of all units stands."""
        test = Sprt(self.p0, self.p1, self.alpha, self.alpha)
        test.add(seen.corrupt, seen.units)
        return None if test.decision is None else test.decision == "bad"


@lru_cache
def size(p1: float, p0: float, alpha: float) -> tuple[int, int]:
    """The fewest units, and the most corrupt ones of a good configuration, for errors <= alpha.

    P(more | p0) <= alpha and P(not more | p1) <= alpha. Raises ``ValueError`` unless p1 > p0.
    """
    if p1 <= p0:
        raise ValueError(f"a rate of {p1:.3g} cannot be told from a background of {p0:.3g}")
    for least in range(1, MOST_UNITS, 1000):
        units = np.arange(least, least + 1000)
        most = binom.ppf(alpha, units, p1)  # the smallest count with P(<= count | p1) >= alpha
        most -= binom.cdf(most, units, p1) > alpha
        enough = np.flatnonzero((most >= 0) & (binom.sf(most, units, p0) <= alpha))
        if enough.size:
            return int(units[enough[0]]), int(most[enough[0]])
    raise ValueError(f"{p1:.3g} and {p0:.3g} are too close for {MOST_UNITS} units")


def _exceeds(seen: Tally, units: int, most: int) -> bool:
    return seen.corrupt * units > most * seen.units

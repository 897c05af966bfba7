"""Wald's sequential probability ratio test of one rate against a higher one.

One rule: the first decision stands.
"""

from __future__ import annotations

from math import inf, log
from typing import Literal

from lab.stats.rates import check_counts

Decision = Literal["bad", "good"]


class Sprt:
    """Is the rate p0 ("good") or p1 ("bad")? (Wald 1945).

    Says "bad" at p0 with probability at most alpha / (1 - beta), "good" at p1 with at most
    beta / (1 - alpha), and errs at most alpha + beta in sum; so, too, when units come in batches.
    A rate p0 of 0 is allowed: one corrupt unit decides. So is a p1 of 1.
    """

    def __init__(self, p0: float, p1: float, alpha: float, beta: float) -> None:
        if not 0 <= p0 < p1 <= 1:
            raise ValueError(f"rates must satisfy 0 <= p0 < p1 <= 1, got {p0} and {p1}")
        if not (0 < alpha < 1 and 0 < beta < 1 and alpha + beta < 1):
            raise ValueError(f"errors must be above 0, and below 1 in sum: {alpha}, {beta}")
        self._corrupt = log(p1 / p0) if p0 > 0 else inf
        self._clean = log((1 - p1) / (1 - p0)) if p1 < 1 else -inf
        self._bad, self._good = log((1 - beta) / alpha), log(beta / (1 - alpha))
        self._ratio = 0.0
        self.decision: Decision | None = None

    def add(self, corrupt: int, units: int) -> None:
        """More units; changes nothing once it is decided."""
        check_counts(corrupt, units)
        if self.decision is not None:
            return
        if corrupt and units > corrupt and self._corrupt == inf and self._clean == -inf:
            raise ValueError("neither a rate of 0 nor of 1 gives clean and corrupt units")
        self._ratio += corrupt * self._corrupt if corrupt else 0.0
        self._ratio += (units - corrupt) * self._clean if units > corrupt else 0.0
        if self._ratio >= self._bad:
            self.decision = "bad"
        elif self._ratio <= self._good:
            self.decision = "good"

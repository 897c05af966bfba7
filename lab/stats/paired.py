"""Two arms on equal seeds: each pair is one session, or one seed, seen in both.

One rule: pairs that agree say nothing about a difference, however many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest, permutation_test

from lab.stats.rates import CONFIDENCE, Interval, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mcnemar(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Two-sided exact p of McNemar's test: pairs that differ go either way like a fair coin."""
    first = sum(a and not b for a, b in pairs)
    second = sum(b and not a for a, b in pairs)
    if first + second == 0:
        return 1.0
    return float(binomtest(first, first + second).pvalue)


def paired_difference(
    pairs: Sequence[tuple[bool, bool]], confidence: float = CONFIDENCE
) -> Interval:
    """Interval of the first's rate minus the second's: Newcombe's score method for pairs (1998,
    method 10 of his second paper). ``(-1.0, 1.0)`` of no pair.
    """
    n = len(pairs)
    if n == 0:
        return -1.0, 1.0
    both = sum(a and b for a, b in pairs)
    k1, k2 = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    (low1, high1), (low2, high2) = wilson(k1, n, confidence), wilson(k2, n, confidence)
    p1, p2, phi = k1 / n, k2 / n, _phi(both, k1, k2, n)

    def reach(one: float, other: float) -> float:
        return sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))

    apart = p1 - p2
    return apart - reach(p1 - low1, high2 - p2), apart + reach(high1 - p1, p2 - low2)


def _phi(both: int, k1: int, k2: int, n: int) -> float:
    """How alike the pairs are, with Newcombe's correction for few; 0 where an arm never varies."""
    cross = both * (n - k1 - k2 + both) - (k1 - both) * (k2 - both)
    scale = k1 * (n - k1) * k2 * (n - k2)
    if scale == 0:
        return 0.0
    return (max(0.0, cross - n / 2) if cross > 0 else cross) / sqrt(scale)


def paired_permutation(
    pairs: Sequence[tuple[float, float]], seed: int = 0, rounds: int = 10_000
) -> float:
    """Two-sided p that exchanging the arms within pairs gives as large a summed difference.

    Every exchange is counted where there are at most ``rounds``; else as many are drawn, and what
    was seen counts as one of them, so that p is never 0.
    """
    differences = np.array([a - b for a, b in pairs if a != b], dtype=np.float64)
    if len(differences) < 2:  # one alone goes as far either way
        return 1.0
    found = permutation_test(
        (differences,),
        _sums,
        permutation_type="samples",
        vectorized=True,
        n_resamples=rounds,
        rng=np.random.default_rng([seed]),
    )
    return float(found.pvalue)


def _sums(differences: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    return np.asarray(differences.sum(axis=axis))

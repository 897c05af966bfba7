"""Two arms on equal seeds: each pair is one session, or one seed, seen in both.

One rule: pairs that agree say nothing about a difference, however many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest, permutation_test

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mcnemar(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Two-sided exact p of McNemar's test: pairs that differ go either way like a fair coin."""
    first = sum(a and not b for a, b in pairs)
    second = sum(b and not a for a, b in pairs)
    if first + second == 0:
        return 1.0
    return float(binomtest(first, first + second).pvalue)


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

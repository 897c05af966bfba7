"""Rates whose sessions come in boots, and may be alike within one: an interval and a test.

One rule: a boot is the unit of sampling, so sessions never count for more than their boots show.
What one boot, or boots without a single corrupt session, cannot show is said by each function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from lab.stats.rates import CONFIDENCE, Interval, check_counts

ROUNDS = 10_000
Counts = Sequence[tuple[int, int]]  # (corrupt, sessions) a boot
Column = NDArray[np.int64]


@dataclass(frozen=True)
class Correlation:
    """How alike sessions of one boot are, and how surprising that is where they are not."""

    rho: float
    p_value: float


def clustered(counts: Counts, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's interval at the effective number of sessions; k of n, a boot each.

    The design effect is that of a ratio by linearization (Rao and Scott 1992), the effective number
    has the degrees of freedom of the boots and is at most n (Korn and Graubard 1998). It is never
    narrower than Wilson's own, and of two or three boots far wider, whether these differ or not:
    who knows that they do not takes Wilson's. Boots that are all clean, or all corrupt, do not
    differ; a single boot counts as one session.
    """
    k, n = _columns(counts)
    if n.sum() == 0:
        return 0.0, 1.0
    rate = float(k.sum() / n.sum())
    return _score(rate, _effective(k, n, rate, confidence), confidence)


def design_effect(counts: Counts, confidence: float = CONFIDENCE) -> float:
    """How many sessions of these boots say as much as one that stood alone; at least 1."""
    k, n = _columns(counts)
    total = float(n.sum())
    return total / _effective(k, n, float(k.sum()) / total, confidence) if total else 1.0


def with_effect(k: int, n: int, effect: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's interval of k of n sessions of which ``effect`` say as much as one."""
    check_counts(k, n)
    return _score(k / n, n / effect, confidence) if n else (0.0, 1.0)


def boot_correlation(counts: Counts, seed: int = 0, rounds: int = ROUNDS) -> Correlation:
    """Intraclass correlation within boots, and the one-sided p that it is not above zero.

    rho is the estimator of the analysis of variance (may be negative); p is that of dealing the
    sessions out to the boots again at random. 0.0 and 1.0 where nothing can show: less than two
    boots, one session a boot, all clean or all corrupt.
    """
    k, n = _columns(counts)
    corrupt, sessions = int(k.sum()), int(n.sum())
    if len(n) < 2 or sessions == len(n) or corrupt in (0, sessions):
        return Correlation(0.0, 1.0)
    return Correlation(_anova(k, n), _permuted(k, n, rounds, seed))


def _columns(counts: Counts) -> tuple[Column, Column]:
    for one in counts:
        check_counts(*one)
    kept = np.array([one for one in counts if one[1] > 0], dtype=np.int64).reshape(-1, 2)
    return kept[:, 0], kept[:, 1]


def _effective(k: Column, n: Column, rate: float, confidence: float) -> float:
    """Independent sessions that would say as much as these boots."""
    boots, total = len(n), float(n.sum())
    if boots == 1:
        return 1.0
    variance = boots / (boots - 1) * float(((k - n * rate) ** 2).sum()) / total**2
    if variance == 0.0:
        return total
    tail = (1 + confidence) / 2
    narrower = float(norm.ppf(tail) / t.ppf(tail, boots - 1)) ** 2
    return min(total, rate * (1 - rate) / variance * narrower)


def _score(rate: float, n: float, confidence: float) -> Interval:
    """Wilson's interval for any n above zero, whole or not."""
    z = float(norm.ppf((1 + confidence) / 2))
    middle, weight = rate + z * z / (2 * n), 1 + z * z / n
    reach = z * sqrt(rate * (1 - rate) / n + (z / (2 * n)) ** 2)
    low = 0.0 if rate == 0.0 else (middle - reach) / weight
    high = 1.0 if rate == 1.0 else (middle + reach) / weight
    return low, high


def _anova(k: Column, n: Column) -> float:
    """Mean squares between and within boots, as in Ridout, Demétrio and Firth (1999)."""
    boots, total = len(n), float(n.sum())
    own = float((k**2 / n).sum())
    between = (own - float(k.sum()) ** 2 / total) / (boots - 1)
    within = (float(k.sum()) - own) / (total - boots)
    size = (total - float((n**2).sum()) / total) / (boots - 1)
    return (between - within) / (between + (size - 1) * within)


def _permuted(k: Column, n: Column, rounds: int, seed: int) -> float:
    rate = k.sum() / n.sum()
    rng = np.random.default_rng([seed])
    dealt = rng.multivariate_hypergeometric(n, int(k.sum()), size=rounds)
    seen = float(((k - n * rate) ** 2 / n).sum())
    as_far = ((dealt - n * rate) ** 2 / n).sum(axis=1) >= seen * (1 - 1e-9)  # ties count
    return (1 + int(as_far.sum())) / (1 + rounds)

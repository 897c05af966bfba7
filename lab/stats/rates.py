"""What k of n proves: Wilson's interval, Fisher's exact test, Newcombe's difference.

One rule: no trials is no knowledge (the widest interval, p = 1), never an error and never a zero.
"""

from __future__ import annotations

from math import hypot

from scipy.stats import binomtest, fisher_exact

Interval = tuple[float, float]
CONFIDENCE = 0.95


def wilson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Score interval of the rate k/n (Wilson 1927, without continuity correction).

    ``(0.0, 1.0)`` when n is 0. Raises ``ValueError`` unless 0 <= k <= n.
    """
    check_counts(k, n)
    if n == 0:
        return 0.0, 1.0
    found = binomtest(k, n).proportion_ci(confidence_level=confidence, method="wilson")
    # The ends are known exactly; the formula leaves rounding dust there.
    low = 0.0 if k == 0 else float(found.low)
    high = 1.0 if k == n else float(found.high)
    return low, high


def fisher(k1: int, n1: int, k2: int, n2: int) -> float:
    """Two-sided p of Fisher's exact test that k1/n1 and k2/n2 share one rate; 1.0 when n is 0."""
    check_counts(k1, n1)
    check_counts(k2, n2)
    if n1 == 0 or n2 == 0:
        return 1.0
    p = float(fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue)
    return min(p, 1.0)


def newcombe(k1: int, n1: int, k2: int, n2: int, confidence: float = CONFIDENCE) -> Interval:
    """Interval of the difference k1/n1 - k2/n2: Newcombe's hybrid score (1998, method 10).

    ``(-1.0, 1.0)`` when either n is 0: a missing arm says nothing about a difference.
    """
    low1, high1 = wilson(k1, n1, confidence)
    low2, high2 = wilson(k2, n2, confidence)
    if n1 == 0 or n2 == 0:
        return -1.0, 1.0
    rate1, rate2 = k1 / n1, k2 / n2
    difference = rate1 - rate2
    return (
        difference - hypot(rate1 - low1, high2 - rate2),
        difference + hypot(high1 - rate1, rate2 - low2),
    )


def check_counts(k: int, n: int) -> None:
    """Raise ``ValueError`` unless 0 <= k <= n."""
    if not 0 <= k <= n:
        raise ValueError(f"counts must satisfy 0 <= k <= n, got k={k}, n={n}")

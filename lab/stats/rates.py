"""What k of n proves about one rate: Wilson's interval, and the exact one of Clopper and Pearson.

One rule: no trials is no knowledge (the widest interval), never an error and never a zero.
"""

from __future__ import annotations

from scipy.stats import beta, binomtest

Interval = tuple[float, float]
CONFIDENCE = 0.95
ALPHA = 0.01


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


def clopper_pearson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Exact interval of the rate k/n (Clopper and Pearson 1934): never covers less than it says."""
    alpha = (1 - confidence) / 2
    return lower_bound(k, n, alpha), upper_bound(k, n, alpha)


def upper_bound(k: int, n: int, alpha: float = ALPHA) -> float:
    """The rate at which k or fewer of n have probability ``alpha``; 1.0 when k is n."""
    check_counts(k, n)
    return 1.0 if k == n else float(beta.ppf(1 - alpha, k + 1, n - k))


def lower_bound(k: int, n: int, alpha: float = ALPHA) -> float:
    """The rate at which k or more of n have probability ``alpha``; 0.0 when k is 0."""
    check_counts(k, n)
    return 0.0 if k == 0 else float(beta.ppf(alpha, k, n - k + 1))


def check_counts(k: int, n: int) -> None:
    """Raise ``ValueError`` unless 0 <= k <= n."""
    if not 0 <= k <= n:
        raise ValueError(f"counts must satisfy 0 <= k <= n, got k={k}, n={n}")

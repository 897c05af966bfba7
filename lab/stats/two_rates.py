"""Whether two arms share one rate, and by how much they differ: exact tests and intervals.

One rule: a missing arm says nothing about a difference (p = 1, the widest interval).

``fisher`` holds the number of corrupt units fixed, which no experiment here does; ``boschloo`` is
exact for two arms of fixed size, and never weaker.
"""

from __future__ import annotations

from math import hypot
from typing import Literal

from scipy.stats import boschloo_exact, fisher_exact

from lab.stats.rates import CONFIDENCE, Interval, check_counts, wilson

Alternative = Literal["two-sided", "greater", "less"]


def fisher(k1: int, n1: int, k2: int, n2: int) -> float:
    """Two-sided p of Fisher's exact test that k1/n1 and k2/n2 share one rate; 1.0 when n is 0."""
    check_counts(k1, n1)
    check_counts(k2, n2)
    if n1 == 0 or n2 == 0:
        return 1.0
    p = float(fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue)
    return min(p, 1.0)


def fisher_more(k1: int, n1: int, k2: int, n2: int) -> float:
    """One-sided p of Fisher's exact test that k1/n1 is no greater rate than k2/n2; 1.0 when an n is
    0.

    >>> round(fisher_more(10, 60, 0, 60), 5)
    0.00067
    """
    check_counts(k1, n1)
    check_counts(k2, n2)
    if n1 == 0 or n2 == 0:
        return 1.0
    table = [[k1, n1 - k1], [k2, n2 - k2]]
    return min(float(fisher_exact(table, alternative="greater").pvalue), 1.0)


def boschloo(k1: int, n1: int, k2: int, n2: int, alternative: Alternative = "two-sided") -> float:
    """P of Boschloo's exact test (1970); ``greater``: the first rate is the greater one.

    1.0 when an n is 0, or when all units of both arms came out the same way.
    """
    check_counts(k1, n1)
    check_counts(k2, n2)
    if n1 == 0 or n2 == 0 or k1 + k2 in (0, n1 + n2):
        return 1.0
    table = [[k1, k2], [n1 - k1, n2 - k2]]  # an arm is a column here
    return min(1.0, float(boschloo_exact(table, alternative=alternative).pvalue))


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


def difference(k1: int, n1: int, k2: int, n2: int, confidence: float = CONFIDENCE) -> Interval:
    """Interval of k1/n1 - k2/n2 by statsmodels, which chooses Newcombe's method, too.

    Its score intervals divide by zero where an arm has no corrupt unit, and that is our usual case.
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    check_counts(k1, n1)
    check_counts(k2, n2)
    if n1 == 0 or n2 == 0:
        return -1.0, 1.0
    low, high = confint_proportions_2indep(
        k1, n1, k2, n2, compare="diff", method="newcomb", alpha=1 - confidence
    )
    return max(-1.0, float(low)), min(1.0, float(high))

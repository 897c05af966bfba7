"""The confidence sequence against numerical integration and all paths of a fair test."""

from __future__ import annotations

from functools import cache
from math import pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad

from lab.stats import Interval, clopper_pearson, sequence

LOOKS = 150
ALPHA = 0.05


@cache
def limits(k: int, n: int) -> Interval:
    """The interval; the other half of them by symmetry, which a test of its own checks."""
    if 2 * k <= n:
        return sequence(k, n, ALPHA)
    low, high = limits(n - k, n)
    return 1 - high, 1 - low


def ever_outside(p: float) -> float:
    """Exact probability that the rate p is outside at one of the looks, over all paths."""
    inside, left = np.array([1.0]), 0.0
    for n in range(1, LOOKS + 1):
        inside = np.append(inside * (1 - p), 0.0) + np.append(0.0, inside * p)
        for k in range(n + 1):
            low, high = limits(k, n)
            if not low <= p <= high:
                left, inside[k] = left + inside[k], 0.0
    return left


@pytest.mark.parametrize("p", [0.005, 0.02, 0.06, 0.1, 0.17, 0.3, 0.47, 0.5, 0.8, 0.99])
def test_a_rate_ever_leaves_with_at_most_alpha(p: float) -> None:
    assert ever_outside(p) <= ALPHA


def test_it_is_not_so_wide_that_nothing_ever_leaves() -> None:
    assert max(ever_outside(p) for p in (0.1, 0.3, 0.5)) > ALPHA / 5


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (5, 30), (10, 60), (29, 30)])
def test_at_its_ends_the_mixture_is_one_over_alpha_times_likelier(k: int, n: int) -> None:
    def weighted(angle: float) -> float:  # p = sin(angle)^2 makes the Beta(1/2, 1/2) even
        p = np.sin(angle) ** 2
        return float(p**k * (1 - p) ** (n - k) * 2 / pi)

    mixture, _ = quad(weighted, 0, pi / 2, epsabs=0, epsrel=1e-10)
    for end in sequence(k, n, 0.01):
        if 0 < end < 1:
            assert mixture / (end**k * (1 - end) ** (n - k)) == pytest.approx(100, rel=1e-6)


@pytest.mark.parametrize(("k", "n"), [(0, 0), (0, 7), (3, 7), (10, 60), (5, 228)])
def test_clean_and_corrupt_are_treated_alike(k: int, n: int) -> None:
    low, high = sequence(k, n)
    assert sequence(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (0, 228), (10, 60), (170, 1000)])
def test_looking_at_any_time_costs_width(k: int, n: int) -> None:
    low, high = sequence(k, n, 0.01)
    inner_low, inner_high = clopper_pearson(k, n, 0.99)
    assert 0.0 <= low <= inner_low <= k / n <= inner_high <= high <= 1.0


def test_it_closes_in_on_the_rate() -> None:
    widths = [high - low for low, high in (sequence(17 * m, 100 * m) for m in (1, 10, 100, 1000))]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 12 * sqrt(0.17 * 0.83 / 100_000)


def test_rates_near_the_ends_are_bounded_too() -> None:
    low, high = sequence(1, 10**6)
    assert 0.0 < low < 1e-6 < high < 3e-5
    assert sequence(0, 0) == (0.0, 1.0)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        sequence(3, 2)

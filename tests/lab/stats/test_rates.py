"""Rates against published tables and an independent implementation, never against our own."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from lab.stats import clopper_pearson, lower_bound, upper_bound, wilson

# Newcombe 1998a, "Two-sided confidence intervals for the single proportion", table I.
WILSON_TABLE = [  # method 3
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]
EXACT_TABLE = [  # method 5
    (81, 263, 0.2527, 0.3676),
    (15, 148, 0.0578, 0.1617),
    (0, 20, 0.0000, 0.1684),
    (1, 29, 0.0009, 0.1776),
]

counts = st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
trials = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def at_most(k: int, n: int, p: float) -> float:
    """Probability of k or fewer corrupt units of n, term by term."""
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@pytest.mark.parametrize(("k", "n", "low", "high"), WILSON_TABLE)
def test_wilson_equals_newcombes_table(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("k", "n", "low", "high"), EXACT_TABLE)
def test_clopper_and_pearson_equal_newcombes_table(k: int, n: int, low: float, high: float) -> None:
    assert clopper_pearson(k, n) == pytest.approx((low, high), abs=5e-5)


def test_zero_of_sixty_proves_only_below_six_per_cent() -> None:
    assert wilson(0, 60) == (0.0, pytest.approx(0.0602, abs=5e-5))


def test_two_hundred_and_twenty_eight_clean_units_exclude_two_per_cent_and_one_less_does_not() -> (
    None
):
    assert upper_bound(0, 228) < 0.02 < upper_bound(0, 227)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (1, 30), (5, 30), (7, 8), (40, 60)])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_a_bound_leaves_alpha_to_what_was_seen_or_more_extreme(
    k: int, n: int, alpha: float
) -> None:
    assert at_most(k, n, upper_bound(k, n, alpha)) == pytest.approx(alpha)
    if k > 0:
        assert 1 - at_most(k - 1, n, lower_bound(k, n, alpha)) == pytest.approx(alpha)


@pytest.mark.parametrize("p", [0.003, 0.02, 0.1, 0.17, 0.47, 0.9])
def test_bounds_miss_the_rate_with_at_most_their_alpha_over_all_outcomes(p: float) -> None:
    n, alpha = 40, 0.05
    chance = [at_most(k, n, p) - (at_most(k - 1, n, p) if k else 0.0) for k in range(n + 1)]
    below = sum(chance[k] for k in range(n + 1) if upper_bound(k, n, alpha) < p)
    above = sum(chance[k] for k in range(n + 1) if lower_bound(k, n, alpha) > p)
    assert max(below, above) <= alpha


def test_no_trials_is_no_knowledge() -> None:
    assert wilson(0, 0) == clopper_pearson(0, 0) == (0.0, 1.0)
    assert (lower_bound(0, 0), upper_bound(0, 0)) == (0.0, 1.0)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    for asked in (wilson, clopper_pearson, upper_bound, lower_bound):
        with pytest.raises(ValueError, match="0 <= k <= n"):
            asked(k, n)


@given(trials)
def test_intervals_equal_statsmodels(one: tuple[int, int]) -> None:
    assert wilson(*one) == pytest.approx(proportion_confint(*one, method="wilson"), abs=1e-9)
    k, n = one
    if 0 < k < n:  # there it makes an end one-sided
        exact = proportion_confint(*one, method="beta")
        assert clopper_pearson(*one) == pytest.approx(exact, abs=1e-9)


@given(counts)
def test_intervals_hold_their_rate(one: tuple[int, int]) -> None:
    k, n = one
    for low, high in (wilson(k, n), clopper_pearson(k, n)):
        assert 0.0 <= low <= high <= 1.0
        assert n == 0 or low <= k / n <= high

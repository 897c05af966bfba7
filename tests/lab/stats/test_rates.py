"""Rates against published tables and an independent implementation, never against our own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from lab.stats import fisher, newcombe, wilson

# Newcombe 1998a, "Two-sided confidence intervals for the single proportion", table I, method 3.
WILSON_TABLE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]

# Newcombe 1998b, "Interval estimation for the difference between independent proportions",
# table II, method 10.
NEWCOMBE_TABLE = [
    (56, 70, 48, 80, 0.0524, 0.3339),
    (9, 10, 3, 10, 0.1705, 0.8090),
    (6, 7, 2, 7, 0.0582, 0.8062),
    (5, 56, 0, 29, -0.0381, 0.1926),
    (0, 10, 0, 20, -0.1611, 0.2775),
    (0, 10, 0, 10, -0.2775, 0.2775),
    (10, 10, 0, 20, 0.6791, 1.0000),
    (10, 10, 0, 10, 0.6075, 1.0000),
]

counts = st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
trials = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("k", "n", "low", "high"), WILSON_TABLE)
def test_wilson_equals_newcombes_table(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("k1", "n1", "k2", "n2", "low", "high"), NEWCOMBE_TABLE)
def test_newcombe_equals_newcombes_table(
    k1: int, n1: int, k2: int, n2: int, low: float, high: float
) -> None:
    assert newcombe(k1, n1, k2, n2) == pytest.approx((low, high), abs=5e-5)


def test_fisher_equals_the_tea_tasting_lady() -> None:
    # Fisher 1935: 3 of 4 cups right on either side, one-sided 17/70, two-sided 34/70.
    assert fisher(3, 4, 1, 4) == pytest.approx(34 / 70)


def test_fisher_equals_the_figures_that_the_field_notes_quote() -> None:
    assert fisher(10, 60, 0, 60) == pytest.approx(0.0013, abs=5e-5)
    assert fisher(3, 5, 0, 5) == pytest.approx(0.167, abs=5e-4)


def test_zero_of_sixty_proves_only_below_six_per_cent() -> None:
    assert wilson(0, 60) == (0.0, pytest.approx(0.0602, abs=5e-5))


def test_no_trials_is_no_knowledge() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert fisher(0, 0, 3, 9) == 1.0
    assert newcombe(0, 0, 3, 9) == (-1.0, 1.0)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        wilson(k, n)
    with pytest.raises(ValueError, match="0 <= k <= n"):
        fisher(k, n, 0, 1)


@given(trials)
def test_wilson_equals_statsmodels(one: tuple[int, int]) -> None:
    expected = proportion_confint(*one, method="wilson")
    assert wilson(*one) == pytest.approx(expected, abs=1e-9)


@given(trials, trials)
def test_newcombe_equals_statsmodels(one: tuple[int, int], two: tuple[int, int]) -> None:
    expected = confint_proportions_2indep(*one, *two, compare="diff", method="newcomb")
    assert newcombe(*one, *two) == pytest.approx(expected, abs=1e-9)


@given(counts, counts)
def test_intervals_hold_their_rate_and_tests_do_not_depend_on_order(
    one: tuple[int, int], two: tuple[int, int]
) -> None:
    k1, n1 = one
    low, high = wilson(k1, n1)
    assert 0.0 <= low <= high <= 1.0
    assert n1 == 0 or low <= k1 / n1 <= high
    assert fisher(*one, *two) == pytest.approx(fisher(*two, *one))
    swapped_low, swapped_high = newcombe(*two, *one)
    assert newcombe(*one, *two) == pytest.approx((-swapped_high, -swapped_low))

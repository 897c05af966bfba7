"""Two arms against published tables, every table of outcomes, and an independent implementation."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from statsmodels.stats.proportion import confint_proportions_2indep

from lab.stats import boschloo, difference, fisher, newcombe

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


def boschloo_by_hand(k1: int, n1: int, k2: int, n2: int) -> float:
    """One-sided p for the first rate being greater: all tables that Fisher finds as extreme, at
    the common rate at which they are likeliest."""
    arms = [(a, b) for a in range(n1 + 1) for b in range(n2 + 1)]
    tail = {(a, b): hypergeom.sf(a - 1, n1 + n2, n1, a + b) for a, b in arms}
    extreme = [arm for arm in arms if tail[arm] <= tail[k1, k2] * (1 + 1e-9)]
    p = np.linspace(0, 1, 4001)
    likely = sum(
        comb(n1, a) * comb(n2, b) * p ** (a + b) * (1 - p) ** (n1 + n2 - a - b) for a, b in extreme
    )
    return float(np.max(likely))


@pytest.mark.parametrize(("k1", "n1", "k2", "n2", "low", "high"), NEWCOMBE_TABLE)
def test_both_intervals_of_a_difference_equal_newcombes_table(
    k1: int, n1: int, k2: int, n2: int, low: float, high: float
) -> None:
    assert newcombe(k1, n1, k2, n2) == pytest.approx((low, high), abs=5e-5)
    assert difference(k1, n1, k2, n2) == pytest.approx((low, high), abs=5e-5)


def test_fisher_equals_the_tea_tasting_lady() -> None:
    # Fisher 1935: 3 of 4 cups right on either side, one-sided 17/70, two-sided 34/70.
    assert fisher(3, 4, 1, 4) == pytest.approx(34 / 70)


def test_fisher_equals_the_figures_that_the_field_notes_quote() -> None:
    assert fisher(10, 60, 0, 60) == pytest.approx(0.0013, abs=5e-5)
    assert fisher(3, 5, 0, 5) == pytest.approx(0.167, abs=5e-4)


# The R package Exact, method "boschloo", alternative "less": k1, n1, k2, n2, p.
EXACT_OF_R = [
    (2, 10, 7, 9, 0.009886142),
    (5, 15, 1, 11, 0.9450994),
    (10, 20, 5, 6, 0.08565611),
    (0, 3, 1, 3, 0.34375),
]


@pytest.mark.parametrize(("k1", "n1", "k2", "n2", "p"), EXACT_OF_R)
def test_boschloo_equals_the_package_exact_of_r(
    k1: int, n1: int, k2: int, n2: int, p: float
) -> None:
    assert boschloo(k1, n1, k2, n2, "less") == pytest.approx(p, rel=1e-5)


@pytest.mark.parametrize("arms", [(3, 5, 0, 5), (4, 10, 1, 12), (5, 8, 2, 15), (10, 60, 0, 60)])
def test_boschloo_is_the_worst_case_over_all_tables(arms: tuple[int, int, int, int]) -> None:
    k1, n1, k2, n2 = arms
    one_sided = boschloo_by_hand(k1, n1, k2, n2)
    assert boschloo(k1, n1, k2, n2, "greater") == pytest.approx(one_sided, rel=1e-3)
    assert boschloo(k2, n2, k1, n1, "less") == pytest.approx(one_sided, rel=1e-3)
    assert boschloo(k1, n1, k2, n2) == pytest.approx(2 * one_sided, rel=1e-3)


def test_boschloo_rejects_a_true_null_at_most_as_often_as_it_says_and_fisher_less_often() -> None:
    n1, n2, alpha, rate = 9, 7, 0.05, 0.3
    rejected = {"boschloo": 0.0, "fisher": 0.0}
    for k1 in range(n1 + 1):
        for k2 in range(n2 + 1):
            corrupt, clean = k1 + k2, n1 + n2 - k1 - k2
            chance = comb(n1, k1) * comb(n2, k2) * rate**corrupt * (1 - rate) ** clean
            rejected["boschloo"] += chance * (boschloo(k1, n1, k2, n2) <= alpha)
            rejected["fisher"] += chance * (fisher(k1, n1, k2, n2) <= alpha)
    assert rejected["fisher"] < rejected["boschloo"] <= alpha


def test_a_missing_arm_and_arms_all_alike_say_nothing() -> None:
    assert fisher(0, 0, 3, 9) == boschloo(0, 0, 3, 9) == 1.0
    assert newcombe(0, 0, 3, 9) == difference(3, 9, 0, 0) == (-1.0, 1.0)
    assert boschloo(0, 20, 0, 30) == boschloo(20, 20, 30, 30, "greater") == 1.0


@pytest.mark.parametrize("asked", [fisher, boschloo, newcombe, difference])
def test_impossible_counts_are_refused(asked: object) -> None:
    assert callable(asked)
    for arms in ((4, 3, 0, 1), (0, 1, -1, 3)):
        with pytest.raises(ValueError, match="0 <= k <= n"):
            asked(*arms)


@given(trials, trials)
def test_a_difference_equals_statsmodels(one: tuple[int, int], two: tuple[int, int]) -> None:
    expected = confint_proportions_2indep(*one, *two, compare="diff", method="newcomb")
    assert newcombe(*one, *two) == pytest.approx(expected, abs=1e-9)
    assert difference(*one, *two) == pytest.approx(expected, abs=1e-9)


@given(counts, counts)
def test_tests_and_differences_do_not_depend_on_which_arm_is_named_first(
    one: tuple[int, int], two: tuple[int, int]
) -> None:
    assert fisher(*one, *two) == pytest.approx(fisher(*two, *one))
    for interval in (newcombe, difference):
        low, high = interval(*two, *one)
        assert interval(*one, *two) == pytest.approx((-high, -low))


@pytest.mark.parametrize("arms", [(10, 60, 0, 60), (0, 1, 1, 1), (5, 8, 2, 15), (60, 60, 0, 60)])
def test_a_surer_interval_is_wider(arms: tuple[int, int, int, int]) -> None:
    low, high = difference(*arms, confidence=0.95)
    lower, higher = difference(*arms, confidence=0.99)
    assert -1.0 <= lower <= low < high <= higher <= 1.0

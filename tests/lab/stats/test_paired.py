"""Paired tests against Fisher's own example, statsmodels, and every exchange of the arms."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from lab.stats import mcnemar, newcombe, paired_difference, paired_permutation

# Darwin's maize, crossed minus self-fertilized, eighths of an inch; Fisher 1935 ("The design of
# experiments", section 21) counts 863 of the 32768 sums in either tail.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=80)
small = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def test_fishers_count_of_darwins_maize_is_found() -> None:
    pairs = [(float(d), 0.0) for d in DARWIN]
    assert paired_permutation(pairs, rounds=2**15) == pytest.approx(2 * 863 / 2**15)


def test_drawn_exchanges_agree_with_all_exchanges_and_are_repeatable() -> None:
    pairs = [(float(d), 0.0) for d in DARWIN]
    drawn = paired_permutation(pairs, seed=3)
    assert drawn == pytest.approx(2 * 863 / 2**15, abs=0.009)  # four deviations of 10,000 draws
    assert paired_permutation(pairs, seed=3) == drawn
    assert paired_permutation(pairs, seed=4) != drawn


def test_drawn_exchanges_never_give_a_p_of_zero() -> None:
    assert paired_permutation([(1.0, 0.0)] * 60, rounds=999) == pytest.approx(2 / 1000)


@given(small)
def test_a_permutation_p_is_the_share_of_exchanges_that_go_as_far(
    pairs: list[tuple[int, int]],
) -> None:
    differences = [a - b for a, b in pairs]
    seen = abs(sum(differences))
    sums = [
        sum(sign * d for sign, d in zip(signs, differences, strict=True))
        for signs in product((-1, 1), repeat=len(pairs))
    ]
    expected = sum(abs(one) >= seen for one in sums) / len(sums)
    found = paired_permutation([(float(a), float(b)) for a, b in pairs])
    assert found == pytest.approx(expected)


@given(small)
def test_on_pairs_of_verdicts_the_permutation_test_is_mcnemars(
    pairs: list[tuple[int, int]],
) -> None:
    verdicts = [(a > 2, b > 2) for a, b in pairs]
    found = paired_permutation([(float(a), float(b)) for a, b in verdicts])
    assert found == pytest.approx(mcnemar(verdicts))


def test_eight_seeds_one_way_and_one_the_other() -> None:
    pairs = [(True, False)] * 8 + [(False, True)] + [(True, True)] * 3 + [(False, False)] * 90
    assert mcnemar(pairs) == pytest.approx(2 * (1 + 9) / 2**9)


@given(verdicts)
def test_mcnemar_equals_statsmodels(pairs: list[tuple[bool, bool]]) -> None:
    table = [[pairs.count((a, b)) for b in (True, False)] for a in (True, False)]
    expected = mcnemar_of_statsmodels(table, exact=True).pvalue
    assert mcnemar(pairs) == pytest.approx(expected)


def test_pairs_that_agree_say_nothing() -> None:
    assert mcnemar([]) == mcnemar([(True, True), (False, False)]) == 1.0
    assert paired_permutation([]) == paired_permutation([(2.0, 2.0)]) == 1.0
    assert paired_permutation([(2.0, 0.0), (1.0, 1.0)]) == 1.0  # one pair goes as far either way


def test_the_interval_of_pairs_holds_their_difference_and_turns_with_them() -> None:
    pairs = [(True, True)] * 20 + [(True, False)] * 12 + [(False, True)] * 2 + [(False, False)] * 16
    low, high = paired_difference(pairs)
    assert 0 < low < 10 / 50 < high < 1
    assert paired_difference([(b, a) for a, b in pairs]) == pytest.approx((-high, -low))


def test_pairs_that_agree_are_told_apart_more_finely_than_two_samples() -> None:
    pairs = [(True, True)] * 30 + [(True, False)] * 5 + [(False, False)] * 65
    low, high = paired_difference(pairs)
    wide = newcombe(35, 100, 30, 100)
    assert wide[0] < low < 0.05 < high < wide[1]


def test_pairs_that_are_all_clean_leave_what_two_samples_leave() -> None:
    assert paired_difference([(False, False)] * 60) == pytest.approx(newcombe(0, 60, 0, 60))
    assert paired_difference([]) == (-1.0, 1.0)

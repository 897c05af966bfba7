"""Whole boots are exchanged: what few boots can show, and what sessions of one boot cannot."""

from __future__ import annotations

import pytest

from lab.stats import fisher, least_p, permuted_boots


def test_boots_that_are_all_apart_give_the_least_p() -> None:
    bad, good = [(5, 20), (6, 20), (4, 20)], [(0, 20)] * 3
    assert permuted_boots(bad, good) == pytest.approx(least_p(3, 3)) == pytest.approx(0.1)


def test_one_sick_boot_of_three_is_no_difference_whatever_its_sessions_say() -> None:
    sick, well = [(18, 20), (0, 20), (0, 20)], [(0, 20)] * 3
    assert fisher(18, 60, 0, 60) < 1e-4
    assert permuted_boots(sick, well) == 1.0


def test_where_deals_are_too_many_they_are_drawn_and_p_is_never_zero() -> None:
    bad, good = [(9, 10)] * 12, [(0, 10)] * 12
    drawn = permuted_boots(bad, good, rounds=999)
    assert drawn == permuted_boots(bad, good, rounds=999) == pytest.approx(0.001)


def test_an_arm_without_a_session_shows_nothing() -> None:
    assert permuted_boots([], [(3, 9)]) == permuted_boots([(0, 0)], [(3, 9)]) == 1.0


def test_one_boot_each_shows_nothing() -> None:
    assert permuted_boots([(20, 20)], [(0, 20)]) == least_p(1, 1) == 1.0

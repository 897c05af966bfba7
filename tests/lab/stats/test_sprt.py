"""Wald's test against Wald's bounds, by the exact distribution over all paths."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log

import pytest

from lab.stats import Sprt

PLANS = [
    (0.1, 0.3, 0.02, 0.03),
    (0.005, 0.17, 0.01, 0.01),
    (0.02, 0.06, 0.05, 0.05),
    (0.2, 0.47, 0.05, 0.01),
]
Plan = tuple[float, float, float, float]


@dataclass
class Course:
    """What a test does at one rate: its decisions, and the units until then on average."""

    bad: float = 0.0
    good: float = 0.0
    units: float = 0.0


def course(plan: Plan, p: float, batch: int = 1) -> Course:
    """Exact: the distribution of corrupt units among tests still open, batch after batch."""
    found, open_, n = Course(), {0: 1.0}, 0
    shares = [comb(batch, k) * p**k * (1 - p) ** (batch - k) for k in range(batch + 1)]
    while sum(open_.values()) > 1e-10:
        n += batch
        following: dict[int, float] = {}
        for before, weight in open_.items():
            found.units += batch * weight
            for k, share in enumerate(shares):
                following[before + k] = following.get(before + k, 0.0) + weight * share
        open_ = {}
        for k, weight in following.items():
            test = Sprt(*plan)
            test.add(k, n)  # the ratio depends on how many were corrupt, not on which
            if test.decision is None:
                open_[k] = weight
            elif test.decision == "bad":
                found.bad += weight
            else:
                found.good += weight
    return found


def divergence(p: float, q: float) -> float:
    return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("batch", [1, 7])
def test_it_errs_as_seldom_as_wald_says(plan: Plan, batch: int) -> None:
    p0, p1, alpha, beta = plan
    false_bad, false_good = course(plan, p0, batch).bad, course(plan, p1, batch).good
    assert 0.0 < false_bad <= alpha / (1 - beta)
    assert 0.0 < false_good <= beta / (1 - alpha)
    assert false_bad + false_good <= alpha + beta


@pytest.mark.parametrize("plan", PLANS)
def test_it_needs_as_many_units_as_wald_says_and_at_most_one_step_more(plan: Plan) -> None:
    p0, p1, alpha, beta = plan
    bad, good = log((1 - beta) / alpha), log(beta / (1 - alpha))
    step = max(log(p1 / p0), log((1 - p0) / (1 - p1)))
    at_good, at_bad = course(plan, p0), course(plan, p1)
    for seen, per_unit in ((at_good, -divergence(p0, p1)), (at_bad, divergence(p1, p0))):
        walds = (seen.bad * bad + seen.good * good) / per_unit
        assert walds == pytest.approx(seen.units, abs=step / abs(per_unit))


@pytest.mark.parametrize("plan", PLANS)
def test_no_test_of_its_errors_could_need_fewer_units_by_much(plan: Plan) -> None:
    """Wald's lower bound at the errors that it has, and what overshooting adds to it."""
    p0, p1, _, _ = plan
    at_good, at_bad = course(plan, p0), course(plan, p1)
    bound = divergence(at_bad.bad, at_good.bad) / divergence(p1, p0)
    assert bound - 1e-6 <= at_bad.units <= 1.3 * bound + 1
    bound = divergence(at_good.bad, at_bad.bad) / divergence(p0, p1)
    assert bound - 1e-6 <= at_good.units <= 1.3 * bound + 1


def test_its_lines_by_hand() -> None:
    # p0 .1, p1 .3, alpha .02, beta .03: good at k <= -2.583 + .1862 n, bad at k >= 2.875 + .1862 n.
    decided = {
        (k, n): test.decision for k in range(9) for n in (13, 14, 20) for test in [seen(k, n)]
    }
    assert decided[0, 13] is None
    assert decided[0, 14] == "good"
    assert [decided[k, 20] for k in (1, 2, 6, 7)] == ["good", None, None, "bad"]


def seen(corrupt: int, units: int) -> Sprt:
    test = Sprt(0.1, 0.3, 0.02, 0.03)
    test.add(corrupt, units)
    return test


def test_without_a_background_one_corrupt_unit_decides() -> None:
    test = Sprt(0.0, 0.17, 0.01, 0.01)
    test.add(0, 24)  # .83^24 is above .01/.99, .83^25 is below
    assert test.decision is None
    test.add(1, 1)
    assert test.decision == "bad"


def test_without_a_background_enough_clean_units_decide() -> None:
    test = Sprt(0.0, 0.17, 0.01, 0.01)
    test.add(0, 25)
    assert test.decision == "good"


def test_a_certain_failure_is_excluded_by_one_clean_unit() -> None:
    test = Sprt(0.2, 1.0, 0.01, 0.01)
    test.add(0, 1)
    assert test.decision == "good"


def test_the_first_decision_stands() -> None:
    test = Sprt(0.1, 0.3, 0.02, 0.03)
    test.add(0, 14)
    test.add(50, 50)
    assert test.decision == "good"


def test_nothing_decides_nothing() -> None:
    test = Sprt(0.0, 1.0, 0.01, 0.01)
    test.add(0, 0)
    assert test.decision is None


def test_what_neither_rate_explains_is_refused() -> None:
    with pytest.raises(ValueError, match="neither"):
        Sprt(0.0, 1.0, 0.01, 0.01).add(1, 2)


@pytest.mark.parametrize(
    "plan", [(0.3, 0.1, 0.1, 0.1), (0.1, 0.1, 0.1, 0.1), (-0.1, 0.5, 0.1, 0.1)]
)
def test_rates_out_of_order_are_refused(plan: Plan) -> None:
    with pytest.raises(ValueError, match="0 <= p0 < p1 <= 1"):
        Sprt(*plan)


@pytest.mark.parametrize("plan", [(0.1, 0.3, 0.0, 0.1), (0.1, 0.3, 0.6, 0.5)])
def test_impossible_errors_are_refused(plan: Plan) -> None:
    with pytest.raises(ValueError, match="errors"):
        Sprt(*plan)


def test_units_one_by_one_come_to_the_same_ratio_as_together() -> None:
    alone, together = Sprt(0.1, 0.3, 0.02, 0.03), Sprt(0.1, 0.3, 0.02, 0.03)
    for corrupt in [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1] * 2:  # stays between the lines
        alone.add(corrupt, 1)
    together.add(6, 24)
    assert alone.decision is None
    for one in (alone, together):
        one.add(0, 21)  # 45 units: good at 5 and fewer
        assert one.decision is None
        one.add(0, 2)  # 47: at 6
        assert one.decision == "good"

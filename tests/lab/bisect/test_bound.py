"""What information demands, against the formulas by hand and against the channel itself."""

from __future__ import annotations

from math import log2

import pytest

from lab.bisect.bound import capacity, sessions_needed


def test_the_lower_bound_is_the_formula_by_hand() -> None:
    """Ten toggles, two culprits at 17 %, no background: 45 sets over the Z-channel's capacity."""
    q = 0.83
    by_hand = log2(1 + 0.17 * q ** (q / 0.17))
    error = -(0.01 * log2(0.01) + 0.99 * log2(0.99))
    bits = log2(45) - error - 0.01 * log2(44)
    assert capacity(0.17) == pytest.approx(by_hand) == pytest.approx(0.0955, abs=1e-4)
    assert (
        sessions_needed(10, 2, 0.17) == pytest.approx(bits / by_hand) == pytest.approx(56.1, 1e-2)
    )


def test_the_bound_is_the_page_s_for_one_culprit_and_for_two() -> None:
    rounded = [[round(sessions_needed(10, k, p1)) for k in (1, 2)] for p1 in (0.47, 0.17, 0.06)]
    assert rounded == [[11, 18], [34, 56], [99, 165]]


@pytest.mark.parametrize(("p1", "p0"), [(0.17, 0.005), (0.02, 0.005), (0.9, 0.3), (1.0, 0.0)])
def test_a_channel_s_capacity_is_what_its_best_input_tells(p1: float, p0: float) -> None:
    def entropy(p: float) -> float:
        return -sum(q * log2(q) for q in (p, 1 - p) if q > 0)

    def told(share: float) -> float:
        both = entropy(share * p1 + (1 - share) * p0)
        return both - share * entropy(p1) - (1 - share) * entropy(p0)

    best = max(told(i / 5000) for i in range(5001))
    assert capacity(p1, p0) == pytest.approx(best, rel=1e-5)


def test_rates_that_are_no_higher_than_the_background_have_no_capacity() -> None:
    with pytest.raises(ValueError, match="0 <= p0 < p1 <= 1"):
        capacity(0.1, 0.1)


def test_one_set_alone_takes_no_session() -> None:
    assert sessions_needed(3, 3, 0.2) == 0

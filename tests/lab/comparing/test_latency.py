"""Quantiles of replies' times, and the interval of their difference."""

from __future__ import annotations

import numpy as np
import pytest

from lab.comparing import latency
from lab.comparing.latency import QUANTILES, drawn, quantiles


def times(sessions: int, seed: int, more: float = 0.0) -> dict[tuple[int, int], list[float]]:
    """Sessions of 0 to 4 replies, each session slow or quick as a whole."""
    rng = np.random.default_rng(seed)
    return {
        (0, session): [float(rng.lognormal(0.5 * (session % 2))) + more for _ in range(session % 5)]
        for session in range(sessions)
    }


@pytest.mark.parametrize("sessions", [2, 3, 40])
def test_counting_the_sessions_drawn_is_drawing_their_replies(sessions: int) -> None:
    made = times(sessions, 1)
    arrays = [np.array(it) for it in made.values() if it]
    picks = np.random.default_rng(7).integers(0, len(arrays), size=(50, len(arrays)))
    laid_out = [np.quantile(np.concatenate([arrays[i] for i in pick]), QUANTILES) for pick in picks]
    np.testing.assert_allclose(drawn(made, np.random.default_rng(7), 50), laid_out, rtol=1e-12)


def test_the_interval_is_that_of_many_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = times(600, 2), times(600, 3, more=0.2)
    found = quantiles(a, b)
    monkeypatch.setattr(latency, "MOST", 8000)
    monkeypatch.setattr(latency, "WORK", 10**9)
    reference = quantiles(a, b, seed=1)
    for name in ("p50", "p90"):
        low, high = reference[name]["ci95_s"]
        assert found[name]["ci95_s"] == pytest.approx([low, high], abs=0.15 * (high - low))


def test_the_interval_of_an_arm_against_itself_holds_zero() -> None:
    for found in quantiles(times(200, 4), times(200, 4)).values():
        low, high = found["ci95_s"]
        assert found["difference_s"] == 0 and low < 0 < high


def test_nothing_is_said_where_an_arm_has_no_time() -> None:
    assert quantiles(times(20, 5), {(0, 0): []}) == {}


def test_an_arm_that_was_asked_the_same_and_did_the_same_is_not_apart_at_all() -> None:
    made = times(200, 4)
    for found in quantiles(made, made, made.keys()).values():
        assert found["paired"] and found["ci95_s"] == [0, 0]


def test_pairs_show_a_delay_that_sessions_drawn_apart_hide() -> None:
    a, b = times(200, 4), times(200, 4, more=0.05)
    low, high = quantiles(a, b, a.keys())["p50"]["ci95_s"]
    assert low == pytest.approx(0.05) and high == pytest.approx(0.05)
    assert quantiles(a, b)["p50"]["ci95_s"][0] < 0


def test_sessions_of_which_one_side_has_no_time_are_no_pairs() -> None:
    a = times(200, 4)
    b = {key: own for key, own in a.items() if key != (0, 1)}
    assert not quantiles(a, b, a.keys())["p50"]["paired"]


def test_the_slowest_of_a_hundred_need_three_hundred_and_n_is_told() -> None:
    few, many = ({(0, s): [0.1 + s] * 3 for s in range(n)} for n in (99, 100))
    assert list(quantiles(few, many)) == ["p50", "p90"]
    assert quantiles(many, many)["p99"]["n"] == [300, 300]

"""Quantiles of replies' times, and the interval of their difference."""

from __future__ import annotations

import numpy as np
import pytest

from lab.comparing import latency
from lab.comparing.latency import QUANTILES, drawn, quantiles


def times(sessions: int, seed: int, more: float = 0.0) -> dict[int, list[float]]:
    """Sessions of 0 to 4 replies, each session slow or quick as a whole."""
    rng = np.random.default_rng(seed)
    return {
        session: [float(rng.lognormal(0.5 * (session % 2))) + more for _ in range(session % 5)]
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
    assert quantiles(times(20, 5), {0: []}) == {}

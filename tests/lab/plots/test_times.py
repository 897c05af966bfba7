"""Times: what came and what never did, each in its panel, with the timeout that was waited for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.plots import slices, times
from lab.plots.style import styled
from lab.plots.times import gap_ms, waits
from tests.lab.plots.test_figures import texts
from tests.lab.samples import findings, history, reply, run_verdict, sample_run


def test_times_are_from_the_last_sending_and_gaps_are_a_reply_s_mean() -> None:
    arm = history("one", sessions=2, turns=1)
    first, gaps, whole = waits(arm)
    assert first.well == pytest.approx([0.03, 0.03]) and whole.well == pytest.approx([0.1, 0.1])
    tokens = arm.replies[0].completion_tokens
    assert gaps.well == pytest.approx([70 / (tokens - 1)] * 2)


def test_what_a_server_streamed_has_the_gaps_that_were_measured() -> None:
    assert gap_ms(replace(reply(0, 0), gaps_ms={"n": 5, "mean": 12.5})) == 12.5
    assert gap_ms(replace(reply(0, 0), completion_tokens=1)) is None


def test_a_reply_that_never_came_counts_when_its_client_gave_up() -> None:
    arm = replace(history("one", sessions=3, turns=1), timeout_s=300.0)
    arm.replies[0] = replace(arm.replies[0], status="timeout", sent_s=1.0, done_s=301.0)
    first, gaps, whole = waits(arm)
    assert whole.ill == first.ill == [300.0] and len(whole.well) == 2 and gaps.ill == []
    with styled():
        figure = times.draw(run_verdict("r", [arm], {"one": 0}), [arm], {})
    said = texts(figure)
    assert "client timeout 300 s" in said and "n = 2: p50 0.1, p99 0.1; 1 without an answer" in said


def test_a_timeout_that_nobody_waited_for_is_told_and_not_drawn() -> None:
    arm = replace(history("one", sessions=3), timeout_s=600.0)
    with styled():
        said = texts(times.draw(run_verdict("r", [arm], {"one": 0}), [arm], {}))
    assert said.count("nobody waited for the client's timeout of 600 s") == 1
    assert "client timeout" not in said


def test_every_column_has_one_heading_with_its_unit() -> None:
    arms = [history(name, sessions=3) for name in ("one", "two")]
    with styled():
        said = texts(times.draw(run_verdict("r", arms, {"one": 0, "two": 0}), arms, {}))
    for what, unit in times.COLUMNS.items():
        assert said.count(f"{what} ({unit})") == 1


def test_of_many_arms_those_that_miss_the_most_are_drawn() -> None:
    arms = [history(f"arm {i}", sessions=2) for i in range(9)]
    arms[8].replies[0] = replace(arms[8].replies[0], status="timeout", done_s=9.0)
    names = {arm.name: 0 for arm in arms}
    with styled():
        said = texts(times.draw(run_verdict("r", arms, names), arms, {}))
    assert "arm 8" in said and "arm 7" not in said and "6 of 9 arms that miss the most" in said


def test_an_arm_that_sent_nothing_has_no_times() -> None:
    arm = replace(history("one"), replies=[])
    assert times.draw(run_verdict("r", [arm], {"one": 0}), [arm], {}) is None


def test_slices_show_the_corrupt_arm_with_counts_and_interval() -> None:
    verdict, arms = sample_run()
    with styled():
        said = texts(slices.draw(verdict, arms, {arm.name: findings(arm) for arm in arms}))
    assert "bf16, graph on" in said and "fp8" not in said
    assert "batch size at the first token: others decoding" in said and "10/240" in said
    assert "Wilson 95 % interval" in said


def test_a_clean_run_has_no_figure_of_slices() -> None:
    arm = history("one")
    assert slices.draw(run_verdict("r", [arm], {"one": 0}), [arm], {}) is None

"""The latency figure: replies and rooms of disaggregated arms beside their timeouts."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lab.plots import latency
from lab.plots.histogram import bins
from lab.plots.style import styled
from lab.records import ArmHistory
from lab.report.figures import save_figures
from tests.lab.disaggregated import (
    BOOTSTRAP_TIMEOUT,
    CLIENT_TIMEOUT,
    TIMED_OUT,
    WAITING_TIMEOUT,
    disaggregated,
    retry,
    room,
)
from tests.lab.plots.test_figures import texts
from tests.lab.samples import history, reply, run_verdict


def said(*arms: ArmHistory) -> str:
    """Every word of the figure of these arms."""
    with styled():
        figure = latency.draw(
            run_verdict("r", list(arms), dict.fromkeys(names(*arms), 0)), arms, {}
        )
        return texts(figure)


def names(*arms: ArmHistory) -> list[str]:
    return [arm.name for arm in arms]


def test_it_counts_replies_and_rooms_and_those_that_failed_apart() -> None:
    arm = disaggregated("pd")
    arm.replies[0] = reply(0, 0, status="transport_error")
    arm.replies[1] = replace(arm.replies[1], status="timeout")
    found = said(arm)
    assert "replies: 4 answered, median 0.1 s\n2 unanswered" in found
    assert "rooms: 5 succeeded, median 0.5 s\n1 failed" in found


def test_a_reply_counts_from_its_first_asking_and_tries_that_failed_are_drawn_too() -> None:
    arm = disaggregated("pd")
    arm.replies[0] = replace(arm.replies[0], sent_s=5.0, done_s=5.7, first_sent_s=0.0, tries=2)
    arm.events.append(retry(0, WAITING_TIMEOUT, "room 3 failed"))
    found = latency.replies(arm)
    assert found.well[0] == 5.7 and found.tries == found.failed == [WAITING_TIMEOUT]
    assert "replies: 6 answered, median 0.1 s\n0 unanswered, 1 asked again" in said(arm)


def test_each_timeout_is_a_line_with_its_name() -> None:
    found = said(disaggregated("pd")).splitlines()
    assert f"waiting_timeout {WAITING_TIMEOUT:g} s" in found
    assert f"bootstrap_timeout {BOOTSTRAP_TIMEOUT:g} s" in found
    assert f"client timeout {CLIENT_TIMEOUT:g} s" in found


def test_equal_timeouts_share_a_line_and_unknown_ones_have_none() -> None:
    arm = replace(disaggregated("pd"), timeout_s=None)
    arm.settings["bootstrap_timeout"] = arm.settings["waiting_timeout"]
    found = said(arm)
    assert "waiting_timeout = bootstrap_timeout 4 s" in found
    assert "client timeout" not in found


def test_a_room_that_never_waited_for_input_is_counted_apart() -> None:
    early = replace(room(9, why=TIMED_OUT), decode={"Bootstrapping": 0.0, "Failed": 8.0})
    arm = disaggregated("pd")
    arm.rooms.append(early)
    assert "2 failed (1 before WaitingForInput)" in said(arm)


def test_a_room_is_counted_once_whatever_its_ranks_and_those_without_an_end_apart() -> None:
    arm = disaggregated("pd")
    hangs = replace(room(9), decode={}, outcome="open")
    arm.rooms += [replace(made, rank=1) for made in arm.rooms] + [hangs, replace(hangs, rank=1)]
    assert "rooms: 5 succeeded, median 0.5 s\n1 failed, 1 without an end" in said(arm)


def test_a_title_of_one_panel_ends_before_the_next() -> None:
    arm = disaggregated("pd")
    arm.rooms += [replace(room(n), decode={}, outcome="open") for n in range(100, 400)]
    arm.replies += [replace(reply(n, 0, status="not_sent"), done_s=None) for n in range(300)]
    arm.events += [retry(n, WAITING_TIMEOUT, "room 3 failed") for n in range(160)]
    with styled():
        figure = latency.draw(run_verdict("r", [arm], {"pd": 0}), [arm], {})
        assert figure is not None
        figure.draw_without_rendering()
        left, right = figure.axes[:2]
        (title,) = [it for it in (left.title, left._left_title) if it.get_text()]
        assert title.get_window_extent().x1 < right.get_window_extent().x0


def test_the_first_bar_stands_whole_beside_the_axis() -> None:
    edges = bins([0.83, 600.0, 12_000.0], [0.84, 300.0, 600.0])
    assert edges is not None
    first = int(np.searchsorted(edges, 0.83)) - 1
    assert first >= 1 and edges[first + 1] / edges[first] > 1.1


def test_only_disaggregated_arms_are_drawn() -> None:
    found = said(history("plain"), disaggregated("pd"))
    assert "pd\n\ncount" in found and "plain" not in found


def test_a_run_without_such_an_arm_or_without_any_latency_has_no_figure() -> None:
    idle = replace(disaggregated("pd"), rooms=[], replies=[])
    for arm in (history("plain"), idle):
        assert latency.draw(run_verdict("r", [history("x")], {"x": 0}), [arm], {}) is None


def test_times_that_span_many_are_drawn_by_ratio_and_others_evenly() -> None:
    assert bins([1.0, 3.0, 6.0], [8.0])[0] == 0  # type: ignore[index]
    assert bins([1.0, 3.0, 6.0], [300.0])[0] > 0  # type: ignore[index]


@pytest.mark.parametrize("marks", [[8.0], [300.0], [4.0, 8.0, 60.0], [299.0, 300.0]])
def test_a_bar_ends_just_before_every_timeout(marks: list[float]) -> None:
    edges = bins([0.5, 2.0, 8.0], marks)
    assert edges is not None and np.all(np.diff(edges) > 0)
    for mark in marks:
        assert np.abs(edges - mark).min() < 1e-5 * mark
        assert edges[edges < mark].max() > mark * (1 - 1e-5)


def test_it_lies_in_the_run_s_folder_with_stable_bytes(tmp_path: Path) -> None:
    arm = disaggregated("pd")
    verdict = run_verdict("r", [arm], {"pd": 0})
    digests = []
    for folder in ("a", "b"):
        paths = save_figures(verdict, [arm], {}, tmp_path / folder)
        (png,) = [path for path in paths if path.name == "latency.png"]
        digests.append(hashlib.sha256(png.read_bytes()).hexdigest())
    assert digests[0] == digests[1]


def test_many_arms_with_long_names_are_drawn() -> None:
    arms = [
        disaggregated(f"{n}: index_k=bf16, deferred_release=true, workers=16") for n in range(6)
    ]
    found = said(*arms)
    assert found.count("replies: 6 answered") == 6 and "of 6 arms" not in found


def test_of_too_many_arms_those_with_the_most_failures_are_drawn() -> None:
    arms = [disaggregated(f"arm {n}") for n in range(latency.MOST + 2)]
    for arm in arms[:2]:
        arm.rooms = [made for made in arm.rooms if made.outcome == "Success"]
    found = latency.worst(arms)
    assert [arm.name for arm in found] == [arm.name for arm in arms[2:]]


def test_a_figure_of_some_arms_says_of_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "MOST", 1)
    found = said(disaggregated("one"), disaggregated("two"))
    assert "the 1 of 2 arms with the most failures" in found and "two\n" not in found


def test_without_a_timeout_the_bars_are_still_drawn() -> None:
    edges = bins([0.5, 2.0, 8.0], [])
    assert edges is not None and edges[0] == 0 and edges[-1] > 8

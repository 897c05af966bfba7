"""Which sessions of two runs are pairs, and what is said of those that have no partner."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from lab.comparing import compare, report
from lab.comparing.arms import FISHER, MCNEMAR
from lab.stats import fisher
from tests.lab.comparing.test_comparing import ARM, results, rewritten, stored
from tests.lab.samples import history, reply

if TYPE_CHECKING:
    from lab.records import Reply
    from lab.store import Results

__all__ = ["results"]  # the fixture


def lost(judged: int, corrupt: int = 0) -> list[Reply]:
    """Replies of 60 sessions, of which the first so many got any, the last of these corrupt."""
    got = history(ARM, corrupt=corrupt, sessions=judged).replies if judged else []
    return [*got, *(reply(s, t, status="timeout") for t in range(4) for s in range(judged, 60))]


def printed(document: dict[str, Any]) -> str:
    """The report as a wide terminal has it."""
    screen = StringIO()
    Console(file=screen, width=200).print(report(document))
    return screen.getvalue()


def half_lost(results: Results) -> str:
    """A run that lost 40 of its 60 sessions; 7 of those left are corrupt."""
    run = stored(results, {ARM: 7}, replies=lost(20, 7), history_digest="sha256:1")
    rewritten(results, run, sessions_silent=40, rate=7 / 20)
    return run


def test_a_rate_that_fell_is_never_said_to_have_grown(results: Results) -> None:
    a, b = stored(results, {ARM: 30}), half_lost(results)
    found = compare(results, a, b)
    (arm,) = found["arms"]
    assert (arm["test"], arm["pairs"], arm["unpaired"]) == (FISHER, None, (40, 0))
    assert arm["p_value"] == pytest.approx(fisher(7, 20, 30, 60))
    assert arm["difference"] == pytest.approx(7 / 20 - 30 / 60)
    assert "more sessions than A" not in found["answer"]


def test_sessions_that_were_asked_otherwise_are_no_pairs(results: Results) -> None:
    other = [
        replace(it, expected_call={"name": "g", "arguments": {}}) if it.session < 5 else it
        for it in history(ARM).replies
    ]
    a, b = stored(results, {ARM: 10}), stored(results, {ARM: 0}, replies=other)
    (arm,) = compare(results, a, b)["arms"]
    assert (arm["test"], arm["unpaired"]) == (FISHER, (5, 5))


def test_sessions_that_were_asked_the_same_are_pairs_whatever_came(results: Results) -> None:
    a, b = stored(results, {ARM: 10}), stored(results, {ARM: 3}, history_digest="sha256:1")
    (arm,) = compare(results, a, b)["arms"]
    assert (arm["test"], arm["pairs"], arm["unpaired"]) == (MCNEMAR, 60, None)


def test_an_arm_that_shows_nothing_is_not_tested_and_corrects_no_other(results: Results) -> None:
    a = stored(results, {ARM: 10, "two": 0})
    b = stored(results, {ARM: 0, "two": 0}, seed=8)
    verdict = results.verdict(a)
    first, second = verdict.arms
    empty = replace(second, sessions_silent=second.sessions)
    results.save_verdict(a, replace(verdict, arms=(first, empty)), results.findings(a))
    tested, untested = compare(results, a, b)["arms"]
    assert tested["p_holm"] == tested["p_value"]
    unknown = [untested[it] for it in ("test", "p_value", "p_holm", "difference", "ci95")]
    assert unknown == [None] * 5


def test_replies_that_have_no_time_are_counted_beside_the_times(results: Results) -> None:
    a, b = stored(results, {ARM: 30}), half_lost(results)
    rewritten(results, b, unfinished=160)
    told = printed(compare(results, a, b))
    assert "replies without an answer A / B: 0 of 240 / 160 of 240" in told
    assert "40 sessions of A have no partner" in told


def test_one_history_has_no_times_to_compare(results: Results) -> None:
    a, b = stored(results, {ARM: 0}), stored(results, {ARM: 0})
    document = compare(results, a, b)
    assert document["arms"][0]["latency"] == {}
    assert "seconds of the arm" not in printed(document)

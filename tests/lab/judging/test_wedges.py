"""When an arm is wedged: the clock stalled, the engine said so, or a client waited in vain."""

from __future__ import annotations

from typing import Any

import pytest

from lab.judging import judge_arm
from lab.records import Reply
from lab.report.words import expected_word
from tests.lab.judging.test_verdicts import RIGHT, USED, WRONG, arm, placed, verdict
from tests.lab.replies import said

STUCK = "rank 0 of decode waits in poll #41 since 12.310 s"


def test_a_stalled_clock_is_a_wedge() -> None:
    history = arm(placed(RIGHT, 0), stalled="stalled at 3 s of virtual time")
    assert verdict(history) == ("wedged", "stalled at 3 s of virtual time")


def no_progress(since_s: float, waiting: str = STUCK) -> tuple[int, str, dict[str, Any]]:
    told = {"since_ns": int(since_s * 1e9), "waiting": waiting}
    return int((since_s + 120) * 1e9), "no_progress", told


def test_an_engine_that_says_it_makes_no_progress_is_a_wedge_with_who_waits_for_what() -> None:
    missing = placed(said(""), 1, status="transport_error", raw_text=None)
    history = arm(placed(RIGHT, 0), missing, placed(said(""), 2, status="not_sent", raw_text=None))
    step = (int(12.3e9), "decode", {"rows": 1})
    history.events += [no_progress(3.0, "somebody else"), step, no_progress(12.31)]
    history.events += [no_progress(300.0, "those who came later")]
    found, _ = judge_arm(history)
    assert (found.verdict, found.reason) == ("wedged", f"nothing got on after 12.310 s; {STUCK}")
    assert (found.unfinished, found.replies_due) == (2, 3)


def test_a_stalled_clock_is_told_with_what_the_engine_said_before() -> None:
    missing = placed(said(""), 1, status="not_sent", raw_text=None)
    history = arm(placed(RIGHT, 0), missing, stalled="stalled at 500 s of virtual time")
    history.events += [no_progress(12.31)]
    words = f"stalled at 500 s of virtual time; nothing got on after 12.310 s; {STUCK}"
    assert verdict(history) == ("wedged", words)


def test_corruption_outranks_an_engine_that_makes_no_progress() -> None:
    history = arm(placed(WRONG, 0), placed(said(""), 1, status="not_sent", raw_text=None))
    history.events += [no_progress(12.31)]
    assert verdict(history) == ("corrupt", f"nothing got on after 12.310 s; {STUCK}")


@pytest.mark.parametrize("steps", [[], [(int(400e9), "decode", {"rows": 1})]])
def test_an_engine_that_said_so_and_left_no_reply_out_is_not_wedged(steps: list[Any]) -> None:
    history = arm(placed(RIGHT, 0, done_s=500.0), counters={**USED, "fault:no_progress": 1})
    history.events += [no_progress(12.31), *steps]
    found, _ = judge_arm(history, {"*": {"verdict": "clean", "violations": ["no_progress"]}})
    assert (found.verdict, found.reason) == ("clean", "faults: no_progress 1")
    assert found.faults == {"no_progress": 1} and expected_word(found) == "yes"


def late(session: int, sent_s: float, done_s: float) -> Reply:
    return placed(said(""), session, status="timeout", raw_text=None, sent_s=sent_s, done_s=done_s)


def test_waiting_in_vain_while_nothing_finishes_is_a_wedge() -> None:
    early = placed(RIGHT, 0, done_s=5.0)
    found, reason = verdict(arm(early, late(1, 6.0, 306.0)))
    assert found == "wedged"
    assert "session 1 waited 300 s" in reason


def test_waiting_in_vain_while_others_are_served_is_no_wedge() -> None:
    busy = placed(RIGHT, 0, done_s=200.0)
    assert verdict(arm(busy, late(1, 6.0, 306.0))) == (
        "inconclusive",
        "1 of 2 replies unfinished (no end in time)",
    )


@pytest.mark.parametrize("kind", ["prefill", "decode", "arrive", "end"])
def test_waiting_in_vain_while_the_engine_works_is_slow_and_no_wedge(kind: str) -> None:
    history = arm(placed(RIGHT, 0, done_s=5.0), late(1, 6.0, 306.0))
    history.events += [(int(300e9), kind, {"request": 7})]
    assert verdict(history)[0] == "inconclusive"


def test_what_a_client_did_itself_is_no_sign_of_an_engine_that_lives() -> None:
    history = arm(placed(RIGHT, 0, done_s=5.0), late(1, 6.0, 306.0), late(2, 5.5, 305.5))
    history.events += [
        (int(5.5e9), "arrive", {"request": 8}),
        (int(6e9), "arrive", {"request": 7}),
        (int(305.5e9), "end", {"request": 8, "reason": "abort"}),
        (int(306e9), "end", {"request": 7, "reason": "abort"}),
    ]
    assert verdict(history)[0] == "wedged"


def test_corruption_outranks_everything_else() -> None:
    history = arm(placed(WRONG, 0), late(1, 0.0, 300.0), stalled="stalled", counters={})
    assert verdict(history) == ("corrupt", "stalled")  # and its wedge is not hidden


def test_a_violation_does_not_hide_a_wedge_either() -> None:
    counters = {**USED, "violation:page_books_broken": 1}
    found, reason = verdict(arm(placed(RIGHT, 0), late(1, 6.0, 306.0), counters=counters))
    assert found == "corrupt"
    assert "page_books_broken; session 1 waited 300 s" in reason

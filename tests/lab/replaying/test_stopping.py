"""A replay stops at what the wrong reply met, or says that it stops at less."""

from __future__ import annotations

from dataclasses import replace

from lab.joins import Turn
from lab.replaying.stopping import Stop, stop_of, wrong_turns
from tests.lab.replaying.arms import NAME, arm, violation, wrong


def test_it_stops_at_the_violation_of_the_wrong_reply_s_request() -> None:
    right, read = violation(1, owner="request 11"), violation(2, request=12)
    made = arm("any", right, read)
    assert stop_of(made, [wrong(1, 1)], 1) == Stop(1, NAME, Turn(1, 1), 1, 1, "own")


def test_a_read_after_the_first_wrong_token_is_not_what_the_reply_met() -> None:
    late = (2000, "violation", {"name": "read_foreign_row", "n": 1, "request": 12, "output": 900})
    early = (3000, "violation", {**late[2], "output": 0})
    stop = stop_of(arm("any", late, early), [wrong(1, 1)], 1)
    assert (stop.number, stop.how) == (1, "read")


def test_without_one_it_stops_at_the_session_s_first() -> None:
    made = arm("any", violation(1, owner="request 1"), violation(2, request=13), violation(3))
    made = replace(made, replies=[replace(it, done_s=None) for it in made.replies])
    other = replace(made.replies[3], request_id="chatcmpl-13", session=1, turn=2)
    made = replace(made, replies=[*made.replies, other])
    stop = stop_of(made, [wrong(1, 1)], 1)
    assert (stop.number, stop.turn, stop.wrong, stop.how) == (1, Turn(1, 2), 1, "")


def test_where_none_concerns_it_the_first_of_the_run_is_taken_and_said_to_be_another_s() -> None:
    made = arm("any", violation(1, owner="request 1"), violation(2, owner="cache"))
    stop = stop_of(made, [wrong(1, 1)], 1)
    assert (stop.number, stop.turn, stop.joined, stop.how) == (0, Turn(0, 0), False, "")


def test_without_any_it_stops_at_the_first_wrong_reply() -> None:
    made = arm("any")
    stop = stop_of(made, [wrong(2, 1), wrong(1, 1)], 1)
    assert stop.name is None and stop.joined and stop.wrong == 1
    assert made.events[stop.number][2] == {"session": 1, "turn": 1, "status": "ok"}


def test_a_session_without_a_wrong_reply_stops_at_its_violation() -> None:
    made = arm("any", violation(1, owner="request 1"), violation(2, request=12))
    assert stop_of(made, [wrong(0, 0)], 1) == Stop(1, NAME, Turn(1, 1), 1)


def test_wrong_turns_are_those_of_the_session_once_each() -> None:
    found = [wrong(1, 1), wrong(1, 1), wrong(2, 0), wrong(1, 0)]
    assert wrong_turns(found, 1) == [0, 1]

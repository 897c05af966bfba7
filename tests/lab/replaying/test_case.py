"""The stored history says which arm is replayed and where it stops."""

from __future__ import annotations

import pytest

from lab.errors import UserError
from lab.joins import Turn
from lab.replaying.case import Stop, find, stop_of
from lab.store import Results
from tests.lab.replaying.arms import NAME, arm, stored, violation, wrong


def test_it_stops_at_the_first_violation_that_concerns_the_session() -> None:
    made = arm("any", violation(1, owner="request 1"), violation(2, request=12), violation(3))
    assert stop_of(made, [wrong(1, 1)], 1) == Stop(1, NAME, Turn(1, 1), 1)


def test_where_none_concerns_it_the_first_of_the_run_is_taken_and_said_to_be_another_s() -> None:
    made = arm("any", violation(1, owner="request 1"), violation(2, owner="cache"))
    stop = stop_of(made, [wrong(1, 1)], 1)
    assert (stop.number, stop.turn, stop.joined) == (0, Turn(0, 0), False)


def test_without_any_it_stops_at_the_first_wrong_reply() -> None:
    made = arm("any")
    stop = stop_of(made, [wrong(2, 1), wrong(1, 1)], 1)
    assert stop.name is None and stop.joined
    assert made.events[stop.number][2] == {"session": 1, "turn": 1, "status": "ok"}


def test_the_arm_is_the_only_one_in_which_the_session_failed(results: Results, run: str) -> None:
    case = find(results, run, 0)
    assert (case.arm.name, case.session, case.verdict.verdict) == ("bad", 0, "corrupt")
    assert case.scenario.settings(case.arm) == case.history.settings


@pytest.mark.parametrize(
    ("session", "name", "said"),
    [
        (7, None, "no session 7; accepted: 0 to 1"),
        (1, "good", "no session 1; accepted: 0 to 0"),
        (0, "good", "session 0 is clean in 'good': nothing to stop at"),
        (0, "god", "no such arm in run .*; accepted: 'bad', 'good' .did you mean 'good'"),
    ],
)
def test_what_cannot_be_replayed_is_one_line(
    results: Results, run: str, session: int, name: str | None, said: str
) -> None:
    with pytest.raises(UserError, match=said) as caught:
        find(results, run, session, name)
    assert "\n" not in str(caught.value)


TWICE = """
name: twice
build: [index_k_under_allocated]
workload: {kind: tool_sessions, preset: small, sessions: 1, turns: 1}
engine: {index_k: bf16}
arms: [{name: one}, {name: two, overlap: true}]
"""


def test_of_several_arms_one_must_be_named(results: Results) -> None:
    twice = stored(results, TWICE)
    with pytest.raises(UserError, match="failed in 2 arms; --arm names one: 'one', 'two'"):
        find(results, twice, 0)
    assert find(results, twice, 0, "two").arm.name == "two"

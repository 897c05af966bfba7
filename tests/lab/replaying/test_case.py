"""The stored history says which arm is replayed."""

from __future__ import annotations

import pytest

from lab.errors import UserError
from lab.replaying.case import find
from lab.store import Results
from tests.lab.replaying.arms import stored


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


def test_what_went_by_a_wall_clock_is_not_replayed(results: Results) -> None:
    walled = stored(results, f"clock: wall\n{TWICE}")
    with pytest.raises(UserError, match="a wall clock, whose times no replay sees again; run its"):
        find(results, walled, 0)

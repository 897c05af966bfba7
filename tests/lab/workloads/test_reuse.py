"""Who shares what with whom, and how long a prefix must wait until it is wanted again."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from engine.config import PAGE_TOKENS
from lab.driver import Load
from lab.workloads import resolve
from tests.lab.driver.servers import Body, model, run, stream
from tests.lab.workloads.plans import common, plan, prompt

P = PAGE_TOKENS
OFF = (-1, 0, 1)


def distances(kind: str, concurrency: int) -> list[int]:
    """For each prompt that was asked before: the turns of others since.

    A twin's prompt is its twin's, so that the session's own turn is not what counts.
    """
    planned = plan(kind, sessions=8)
    say, asked, found = model(planned), [], []

    def serve(body: Body) -> object:
        text = body["messages"][0]["content"]
        if text in asked:
            found.append(asked[::-1].index(text))
        asked.append(text)
        return stream(say(body), step_s=1.0 + len(text) / 1e4)

    run(serve, planned, Load(concurrency=concurrency))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("concurrency", [1, 3, 60])
def test_round_robin_has_the_longest_way_back_and_twins_the_shortest(concurrency: int) -> None:
    longest = distances("round_robin", concurrency)
    assert longest == [7] * 8  # every other session, between any two turns
    assert sum(distances("tool_sessions", concurrency)) <= sum(longest)
    assert sum(distances("twins", concurrency)) < sum(longest)
    assert set(distances("twins", 1)) == {0}


def test_between_two_turns_of_a_returning_session_the_whole_flood_has_its_turn() -> None:
    sessions = plan("a_flood_a", "reference", sessions=12)
    back = [s for s in sessions if s.index % 4 == 0]
    flood = [s for s in sessions if s.index % 4]
    assert {s.stages.of_turn for s in back if s.stages} == {(0, 2, 4, 6)}
    assert {s.stages.of_turn for s in flood if s.stages} == {(1, 3, 5)}
    assert {s.stages.circle for s in sessions if s.stages} == {0}


def test_the_flood_shares_no_page_of_any_manual() -> None:
    sessions = plan("a_flood_a", sessions=12)
    for session in sessions:
        if session.index % 4:
            others = [prompt(s) for s in sessions if s is not session]
            assert max(common(prompt(session), other) for other in others) < 2 * P


def test_a_session_that_returns_must_have_a_turn_to_return_for() -> None:
    with pytest.raises(ValidationError):
        resolve("a_flood_a", "small", {"turns": 1})


def test_twins_say_the_same_to_the_letter_and_pairs_nothing() -> None:
    sessions = plan("twins", sessions=7)
    for first, second in zip(sessions[::2], sessions[1::2], strict=False):
        assert (first.system, first.turns) == (second.system, second.turns)
        assert first.group == second.group
    assert common(prompt(sessions[0]), prompt(sessions[2])) < 2 * P


def test_a_burst_shares_a_prefix_and_has_its_turns_in_step() -> None:
    sessions = plan("same_step", "burst", sessions=8, arrival_rate=1.0)
    for burst in (sessions[:4], sessions[4:]):
        assert len({s.start_s for s in burst}) == 1
        assert len({s.stages for s in burst}) == 1
        shared = [common(prompt(burst[0]), prompt(s)) for s in burst[1:]]
        assert min(shared) >= 2 * P
    assert common(prompt(sessions[0]), prompt(sessions[4])) < 2 * P
    assert sessions[0].stages.of_turn == (0, 1)  # type: ignore[union-attr]
    assert sessions[4].stages.of_turn == (2, 3)  # type: ignore[union-attr]


@pytest.mark.parametrize("preset", ["small", "reference"])
def test_a_family_agrees_on_whole_pages_and_a_token_more_or_less(preset: str) -> None:
    sessions = plan("prefix_lengths", preset, sessions=36, members=3)
    for group, off in enumerate(OFF * 4):
        prompts = [prompt(s) for s in sessions if s.group == group]
        shared = [common(a, b) for a in prompts for b in prompts if a is not b]
        assert len(set(shared)) == 1
        assert (shared[0] - off) % P == 0
        assert shared[0] > P
        assert all((len(each) - off) % P == 0 for each in prompts)


def test_families_go_from_boundary_to_boundary() -> None:
    sessions = plan("prefix_lengths", "reference", sessions=60, turns=1)
    families = [[prompt(s) for s in sessions if s.group == g] for g in range(30)]
    boundaries = {round(common(*family) / P) for family in families}
    assert len(boundaries) >= 9
    assert boundaries <= set(range(2, 17))

"""Who converses when: seats, and the stages that plans put their turns in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lab.driver import Load
from lab.records import Stages
from tests.lab.driver.servers import Body, model, plans, run, stream

if TYPE_CHECKING:
    from lab.records import Reply, SessionPlan

SEATS = pytest.mark.parametrize("concurrency", [1, 2, 3, 60])


def staged(*stages: tuple[int, ...], circles: tuple[int, ...] = ()) -> list[SessionPlan]:
    """Sessions whose turns are in these stages, all of one circle unless ``circles`` says."""
    found = plans(sessions=len(stages), turns=len(stages[0]))
    circle = circles or (0,) * len(stages)
    return [replace(plan, stages=Stages(circle[plan.index], stages[plan.index])) for plan in found]


def sent(planned: list[SessionPlan], load: Load) -> list[tuple[int, int]]:
    """(session, turn) in the order in which the server was asked; every reply must be right."""
    say, order = model(planned), []
    sessions = {plan.system: plan.index for plan in planned}

    def serve(body: Body) -> object:
        asked = body["messages"]
        turn = sum(message["role"] == "assistant" for message in asked)
        session = sessions[asked[0]["content"]]
        order.append((session, turn))
        return stream(say(body), step_s=1.0 + session / 8)

    replies, _ = run(serve, planned, load)  # type: ignore[arg-type]
    assert all(reply.raw_text == reply.expected_text for reply in replies)
    return order


@SEATS
def test_no_turn_is_sent_before_the_earlier_stages_are_over(concurrency: int) -> None:
    planned = staged((0, 1, 2), (0, 1, 2), (0, 1, 2))
    order = sent(planned, Load(concurrency=concurrency))
    assert [turn for _, turn in order] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("concurrency", [1, 60])
def test_within_a_stage_sessions_go_by_their_index(concurrency: int) -> None:
    planned = staged((0, 1), (0, 1), (0, 1))
    order = sent(planned, Load(concurrency=concurrency))
    assert [session for session, _ in order] == [0, 1, 2, 0, 1, 2]


def test_a_stage_begins_in_one_instant() -> None:
    planned = staged((0, 1), (0, 1), (0, 1))
    say = model(planned)
    replies, _ = run(lambda body: stream(say(body), step_s=len(str(body)) / 1e4), planned)
    assert len({reply.sent_s for reply in replies if reply.turn == 1}) == 1
    second = next(reply.sent_s for reply in replies if reply.turn == 1)
    assert second == max(reply.done_s or 0.0 for reply in replies if reply.turn == 0)


@SEATS
def test_circles_do_not_wait_for_each_other(concurrency: int) -> None:
    """Nor does a session in a circle's stage wait behind others when it is the next in order."""
    planned = staged((0, 2), (1, 3), (0, 2), (1, 3), circles=(0, 0, 1, 1))
    order = sent(planned, Load(concurrency=concurrency))
    for pair in ((0, 1), (2, 3)):
        mine = [each for each in order if each[0] in pair]
        assert mine == [(pair[0], 0), (pair[1], 0), (pair[0], 1), (pair[1], 1)]
    if concurrency == 1:
        assert [session for session, _ in order] == [0, 1, 0, 1, 2, 3, 2, 3]


def test_whoever_waits_for_another_session_holds_no_seat() -> None:
    planned = staged((1, 1), (0, 0))
    assert sent(planned, Load(concurrency=1)) == [(1, 0), (1, 1), (0, 0), (0, 1)]


def test_turns_of_one_stage_are_one_stay() -> None:
    planned = staged((0, 0), (0, 0))
    assert sent(planned, Load(concurrency=1)) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_sessions_without_stages_go_on_beside_the_others() -> None:
    planned = staged((0, 1), (0, 1), (0, 1))
    planned[1] = replace(planned[1], stages=None)
    order = sent(planned, Load())
    assert sorted(order) == [(s, t) for s in range(3) for t in range(2)]


def test_a_session_that_ends_early_holds_nobody_up() -> None:
    """The first session's first reply never ends; its client gives up and leaves the circle."""
    planned = staged((0, 1), (0, 1))
    say = model(planned)

    def serve(body: Body) -> object:
        hangs = body["messages"][0]["content"] == planned[0].system
        return stream(say(body), step_s=1e6 if hangs else 1.0)

    replies, _ = run(serve, planned, Load(timeout_s=50.0))  # type: ignore[arg-type]
    assert statuses(replies) == ["timeout", "not_sent", "ok", "ok"]
    assert replies[3].sent_s == 50.0


def test_clients_that_leave_hold_nobody_up() -> None:
    planned = staged((0, 1, 2), (0, 1, 2), (0, 1, 2))
    say = model(planned)
    load = Load(abort_rate=0.5, abort_within_s=0.5, seed=1)
    replies, _ = run(lambda body: stream(say(body), step_s=0.3), planned, load)
    assert "aborted" in statuses(replies)
    assert "ok" in statuses(replies)
    assert all(reply.status == "ok" or not reply.due for reply in replies)


def test_sessions_that_come_late_are_waited_for() -> None:
    planned = staged((0, 1), (0, 1))
    planned[1] = replace(planned[1], start_s=30.0)
    say = model(planned)
    replies, _ = run(lambda body: stream(say(body)), planned)
    assert [reply.sent_s for reply in replies] == [0.0, 30.0, 30.0, 30.0]


def statuses(replies: list[Reply]) -> list[str]:
    return [reply.status for reply in replies]

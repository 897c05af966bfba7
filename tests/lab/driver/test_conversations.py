"""A session is a conversation built from what came back, in turns, on the loop's clock."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lab.detectors import Context, examine
from lab.driver import Load
from tests.lab.driver import servers
from tests.lab.driver.servers import Body, model, plans, run, stream, whole

if TYPE_CHECKING:
    from starlette.responses import Response

BOTH = pytest.mark.parametrize("streamed", [True, False])


def answer(text: str, body: Body) -> Response:
    return stream(text) if body["stream"] else whole(text)


@BOTH
def test_healthy_sessions_come_to_their_end_and_are_clean(streamed: bool) -> None:
    planned = plans(sessions=3)
    say = model(planned)
    replies, _ = run(lambda body: answer(say(body), body), planned, Load(stream=streamed))
    assert [(r.session, r.turn) for r in replies] == [(s, t) for s in range(3) for t in range(2)]
    assert all(r.raw_text == r.expected_text for r in replies)
    assert all(r.cached_tokens == 256 and r.prompt_tokens == 9 for r in replies)
    assert [f for r in replies for f in examine(r, Context(tools=servers.SCHEMAS))] == []


@BOTH
def test_the_conversation_holds_what_was_received_and_what_the_tool_answered(
    streamed: bool,
) -> None:
    planned = plans(sessions=1)
    say, bodies = model(planned), []

    def serve(body: Body) -> Response:
        bodies.append(body)
        return answer(say(body), body)

    run(serve, planned, Load(stream=streamed))
    system, user, assistant, tool = bodies[1]["messages"]
    assert (system["role"], user["role"], tool["role"]) == ("system", "user", "tool")
    function = assistant["tool_calls"][0]["function"]
    first = planned[0].turns[0]
    assert json.loads(function["arguments"]) == first.expected_call["arguments"]
    assert assistant["reasoning_content"].startswith("Call ")
    assert tool["content"] == first.tool_result
    assert tool["tool_call_id"] == assistant["tool_calls"][0]["id"]
    assert bodies[0]["tools"] == list(planned[0].tools)


def test_a_wrong_argument_gets_an_error_and_the_session_goes_on() -> None:
    planned = plans(sessions=1)
    say, bodies = model(planned), []
    value = next(iter(planned[0].turns[0].expected_call["arguments"].values()))

    def serve(body: Body) -> Response:
        bodies.append(body)
        return whole(say(body).replace(value, "WRONGVALUE"))

    replies, _ = run(serve, planned, Load(stream=False))
    result = json.loads(bodies[1]["messages"][-1]["content"])
    expected = json.loads(planned[0].turns[0].tool_result)
    assert result == expected | {"status": "error"}
    assert "WRONGVALUE" in str(bodies[1]["messages"][2])
    assert [r.status for r in replies] == ["ok", "ok"]


def test_where_no_call_was_made_the_user_asks_for_the_next_key() -> None:
    planned = plans(sessions=1)
    bodies: list[Body] = []

    def serve(body: Body) -> Response:
        bodies.append(body)
        return whole("<think>hm</think>\n\nI do not know.")

    run(serve, planned, Load(stream=False))
    *_, assistant, user = bodies[1]["messages"]
    assert assistant == {
        "role": "assistant",
        "content": "\n\nI do not know.",
        "reasoning_content": "hm",
    }
    key = json.loads(planned[0].turns[0].tool_result)["key"]
    assert user["role"] == "user"
    assert key in user["content"]


def test_no_more_sessions_are_open_than_allowed_and_they_are_served_as_they_come() -> None:
    planned = plans(sessions=6, turns=1)
    say, order, open_now = model(planned), [], []

    def serve(body: Body) -> Response:
        order.append(body["messages"][0]["content"])
        return stream(say(body), step_s=1.0)

    replies, _ = run(serve, planned, Load(concurrency=2))
    assert order == [plan.system for plan in planned]
    for at in sorted(r.sent_s for r in replies):
        open_now.append(sum(r.sent_s <= at < (r.done_s or 0.0) for r in replies))
    assert max(open_now) == 2


def test_sessions_arrive_and_think_when_their_plan_says() -> None:
    planned = plans(sessions=5, arrival_rate=0.5, think_s=3.0)
    say = model(planned)
    replies, _ = run(lambda body: stream(say(body)), planned)
    for reply in replies:
        plan = planned[reply.session]
        waited = plan.start_s + sum(plan.think_s[: reply.turn + 1])
        assert reply.sent_s == pytest.approx(waited)


def test_the_first_token_is_timed_where_it_was_sent() -> None:
    planned = plans(sessions=1, turns=1)
    say = model(planned)
    (reply,), _ = run(lambda body: stream(say(body), step_s=2.0), planned)
    assert (reply.sent_s, reply.first_token_s) == (0.0, 2.0)
    assert reply.done_s is not None
    assert reply.done_s > 4.0


def test_one_seed_one_history() -> None:
    def once() -> tuple[Any, ...]:
        planned = plans(sessions=5, arrival_rate=2.0, think_s=1.0)
        say = model(planned)
        load = Load(concurrency=3, abort_rate=0.3, seed=4)
        replies, log = run(lambda body: servers.stream(say(body), 0.3), planned, load)
        return replies, log.digest()

    assert once() == once()

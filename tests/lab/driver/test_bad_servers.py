"""Whatever a server does, each due turn leaves one record, and a failure is never a reply."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from engine import clock
from lab.detectors import Context, Kind, examine
from lab.driver import Load
from tests.lab.driver.servers import Body, model, plans, run, stream, whole

if TYPE_CHECKING:
    from lab.records import Reply

PLANS = plans(sessions=2)
SAY = model(PLANS)


def crash(body: Body) -> Response:
    raise RuntimeError("the server fell over")


def said(**changes: object) -> Response:
    """A whole reply with something else in its body."""
    choice = {"message": {"content": "a"}, "finish_reason": "stop"}
    return JSONResponse({"choices": [choice]} | changes)


def called(*calls: object) -> Response:
    """A whole reply that makes these calls."""
    message = {"content": "a", "tool_calls": calls}
    return said(choices=[{"message": message, "finish_reason": "tool_calls"}])


def event(body: object) -> Response:
    """A stream of one event and its end."""
    return PlainTextResponse(f"data: {json.dumps(body)}\n\ndata: [DONE]\n\n")


def delta(**parts: object) -> Response:
    """A stream of one delta that ends the reply."""
    return event({"choices": [{"delta": parts, "finish_reason": "stop"}]})


BROKEN: dict[str, Callable[[Body], Response]] = {
    "HTTP 500": lambda body: PlainTextResponse("oops", 500),
    "HTTP 400 in OpenAI's shape": lambda body: JSONResponse({"error": {"message": "no"}}, 400),
    "a crash": crash,
    "a cut stream": lambda body: stream(SAY(body), cut=2),
    "a stream without its end": lambda body: stream(SAY(body), cut=4),
    "a cut event": lambda body: PlainTextResponse('data: {"choices": ['),
    "not events": lambda body: PlainTextResponse("<html>hello</html>\n\n"),
    "not JSON": lambda body: PlainTextResponse("data: {broken}\n\n"),
    "not an object": lambda body: PlainTextResponse("data: [1]\n\ndata: [DONE]\n\n"),
    "another shape": lambda body: PlainTextResponse('data: {"choices": [3]}\n\ndata: [DONE]\n\n'),
    "an error event": lambda body: PlainTextResponse('data: {"error": {"message": "no"}}\n\n'),
    "a call that is text": lambda body: delta(tool_calls=["f"]),
    "calls that are a number": lambda body: delta(tool_calls=3),
    "a function that is text": lambda body: delta(tool_calls=[{"index": 0, "function": "f"}]),
    "a call before the first": lambda body: delta(tool_calls=[{"index": 0}, {"index": -1}]),
    "a call after the next": lambda body: delta(tool_calls=[{"index": 2}]),
    "content that is a list": lambda body: delta(content=["a"]),
    "half a character": lambda body: delta(content="\ud83d"),
    "a delta that is a list": lambda body: event({"choices": [{"delta": [1]}]}),
    "too deep": lambda body: PlainTextResponse("data: " + "[" * 100_000 + "\n\n"),
    "empty": lambda body: PlainTextResponse(""),
}
WHOLE: dict[str, Callable[[Body], Response]] = {
    "HTTP 500": lambda body: PlainTextResponse("oops", 500),
    "not JSON": lambda body: PlainTextResponse("hello"),
    "no choices": lambda body: JSONResponse({"choices": []}),
    "no message": lambda body: JSONResponse({"choices": [{"finish_reason": "stop"}]}),
    "not an object": lambda body: JSONResponse([1]),
    "no finish_reason": lambda body: JSONResponse({"choices": [{"message": {"content": "a"}}]}),
    "another shape": lambda body: JSONResponse({"choices": {"message": 3}}),
    "an id that is a mapping": lambda body: said(id={"a": 1}),
    "a call that is text": lambda body: called("f"),
    "a function that is text": lambda body: called({"id": "1", "function": "f"}),
    "half a character": lambda body: called({"function": {"name": "\ud83d"}}),
    "token ids of text": lambda body: said(
        choices=[{"message": {}, "finish_reason": "stop", "token_ids": ["a"]}]
    ),
    "a finish_reason that is a number": lambda body: said(
        choices=[{"message": {}, "finish_reason": 3}]
    ),
    "too deep": lambda body: PlainTextResponse("[" * 100_000),
    "empty": lambda body: PlainTextResponse(""),
}


@pytest.mark.parametrize(
    ("streamed", "answer"),
    [(True, answer) for answer in BROKEN.values()] + [(False, answer) for answer in WHOLE.values()],
    ids=[*BROKEN, *(f"{name}, whole" for name in WHOLE)],
)
def test_a_broken_exchange_is_unfinished_neither_corrupt_nor_clean(
    streamed: bool, answer: Callable[[Body], Response]
) -> None:
    replies, _ = run(answer, PLANS, Load(stream=streamed))
    assert [r.status for r in replies] == ["transport_error", "not_sent"] * 2
    assert all(r.due and r.error for r in replies)
    for reply in replies:
        kinds = {finding.kind for finding in examine(reply, Context())}
        assert kinds == {Kind.UNFINISHED.value}


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    "odd",
    [
        *("many", [1], 3, {"completion_tokens": "many"}, {"completion_tokens": -1}),
        *({"completion_tokens": 2**31}, {"completion_tokens": True}),
        *({"prompt_tokens_details": it} for it in ("none", [1], {"cached_tokens": 0.5})),
    ],
)
def test_a_reply_whose_usage_cannot_be_read_is_a_reply(streamed: bool, odd: object) -> None:
    usage = {"prompt_tokens": 9, **odd} if isinstance(odd, dict) else odd
    choice = {"message": {"content": "a"}, "delta": {"content": "a"}, "finish_reason": "stop"}
    body = {"choices": [choice], "usage": usage, "sglext": odd}
    replies, _ = run(
        lambda _: event(body) if streamed else JSONResponse(body), PLANS, Load(stream=streamed)
    )
    assert {(r.status, r.content) for r in replies} == {("ok", "a")}
    assert {r.prompt_tokens for r in replies} == {9 if isinstance(odd, dict) else 0}
    assert {(r.completion_tokens, r.cached_tokens) for r in replies} == {(0, 0)}


def test_a_slow_reply_times_out_and_nothing_after_it_is_sent() -> None:
    replies, _ = run(lambda body: stream(SAY(body), 100.0), PLANS, Load(timeout_s=300.0))
    assert [r.status for r in replies] == ["timeout", "not_sent"] * 2
    assert [r.done_s for r in replies] == [300.0, None] * 2


def test_a_server_that_never_answers_costs_only_virtual_time() -> None:
    began_s = clock.wall_s()
    replies, _ = run(lambda body: stream(SAY(body), 1e9), PLANS, Load(timeout_s=86_400.0))
    assert replies[0].done_s == 86_400.0
    assert clock.wall_s() - began_s < 5.0


@pytest.mark.parametrize("streamed", [True, False])
def test_a_client_that_leaves_is_owed_nothing(streamed: bool) -> None:
    load = Load(stream=streamed, abort_rate=1.0, abort_within_s=1.0)
    replies, log = run(lambda body: stream(SAY(body), 100.0), PLANS, load)
    assert [r.status for r in replies] == ["aborted", "not_sent"] * 2
    assert not any(r.due for r in replies)
    assert log.counters["clients_left"] == 2
    assert all(examine(r, Context()) == [] for r in replies)


def test_some_clients_leave_by_the_seed_and_the_others_stay() -> None:
    planned = plans(sessions=40, turns=1)
    say = model(planned)
    load = Load(abort_rate=0.25, abort_within_s=0.5, seed=1)
    replies, _ = run(lambda body: stream(say(body), 1.0), planned, load)
    left = [r.session for r in replies if r.status == "aborted"]
    assert 3 <= len(left) <= 20
    assert all(r.status == "ok" for r in replies if r.session not in left)


def test_a_client_that_adapts_leaves_before_a_reply_is_usually_whole() -> None:
    planned = plans(sessions=60, turns=1)
    say = model(planned)

    def left(adapts: bool) -> list[Reply]:
        load = Load(concurrency=1, abort_rate=0.5, abort_within_s=1e4, adapts=adapts)
        replies, _ = run(lambda body: stream(say(body), 1.0), planned, load)
        return [r for r in replies if r.status == "aborted"]

    assert left(adapts=False) == []
    assert 20 <= len(left(adapts=True)) <= 40


def test_an_empty_completion_is_a_reply_and_judged_as_one() -> None:
    replies, _ = run(lambda body: whole(""), PLANS, Load(stream=False))
    assert {r.status for r in replies} == {"ok"}
    assert "wrong_text" in [finding.detector for finding in examine(replies[0], Context())]


def test_token_ids_of_another_vocabulary_are_no_text() -> None:
    def serve(body: Body) -> Response:
        choice = {"message": {"content": "hello"}, "finish_reason": "stop", "token_ids": [99999]}
        return JSONResponse({"choices": [choice]})

    replies, _ = run(serve, PLANS, Load(stream=False))
    assert (replies[0].status, replies[0].raw_text, replies[0].content) == ("ok", None, "hello")


def test_a_load_may_say_who_leaves_when() -> None:
    load = Load(cancels={(1, 1): 2.5})
    replies, log = run(lambda body: stream(SAY(body), 1.0), PLANS, load)
    assert [(r.session, r.turn, r.status) for r in replies if r.status != "ok"] == [
        (1, 1, "aborted")
    ]
    (left,) = [r for r in replies if r.status == "aborted"]
    assert (left.done_s or 0.0) - left.sent_s == 2.5
    assert log.counters["clients_left"] == 1

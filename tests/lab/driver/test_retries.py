"""A client that is told to asks again after a failure, and the record keeps how often."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from lab.driver import Load
from tests.lab.driver.servers import Body, model, plans, run, stream, whole

PLANS = plans(sessions=1)
SAY = model(PLANS)
ROOM = {"message": "room 7 failed in WaitingForInput after 300.000 s", "code": "room_failed"}
NS = 1_000_000_000
Answer = Callable[[Body], Response]


def refused(body: Body) -> Response:
    return JSONResponse({"error": ROOM}, 500)


def cut(body: Body) -> Response:
    return stream(SAY(body), cut=2)


def broken(body: Body) -> Response:
    return PlainTextResponse('data: {"error": {"message": "no", "code": "room_failed"}}\n\n')


def slow(body: Body) -> Response:
    return stream(SAY(body), 100.0)


def first(bad: Answer, times: int) -> Answer:
    """A server whose first answers fail."""
    asked: list[Body] = []

    def serve(body: Body) -> Response:
        asked.append(body)
        return bad(body) if len(asked) <= times else stream(SAY(body))

    return serve


@pytest.mark.parametrize(
    ("asked", "paused_s"), [("7", 7.0), ("0", 1.0), ("999", 60.0), ("soon", 1)]
)
def test_a_client_waits_as_long_as_the_server_asks_it_to_and_no_longer_than_a_minute(
    asked: str, paused_s: float
) -> None:
    def busy(body: Body) -> Response:
        return PlainTextResponse("", 429, {"Retry-After": asked})

    replies, log = run(first(busy, 1), PLANS, Load(retries=1))
    assert [r.status for r in replies] == ["ok", "ok"]
    assert replies[0].sent_s - (replies[0].first_sent_s or 0.0) == paused_s
    errors = [fields["error"] for _, kind, fields in log.events if kind == "client_retry"]
    assert errors == [f"HTTP 429: an empty body (Retry-After: {asked})"]


@pytest.mark.parametrize(
    ("bad", "status", "took_s"),
    [
        (refused, "transport_error", 0.0),
        (cut, "transport_error", 0.0),
        (broken, "transport_error", 0.0),
        (slow, "timeout", 50.0),
    ],
)
def test_a_turn_that_failed_is_asked_again_after_a_second(
    bad: Answer, status: str, took_s: float
) -> None:
    replies, log = run(first(bad, 2), PLANS, Load(timeout_s=50.0, retries=2))
    assert [(r.status, r.tries) for r in replies] == [("ok", 3), ("ok", 1)]
    assert replies[0].sent_s == replies[0].done_s == 2 * (took_s + 1.0)
    assert replies[0].first_sent_s == replies[0].began_s == 0.0
    assert all(r.raw_text == r.expected_text for r in replies)
    assert log.counters["client_retries"] == 2
    told = [event.fields for event in log.events if event.kind == "client_retry"]
    assert [(f["session"], f["turn"], f["tries"], f["status"]) for f in told] == [
        (0, 0, 1, status),
        (0, 0, 2, status),
    ]
    assert [(f["sent_ns"], f["done_ns"]) for f in told] == [
        (start, start + round(took_s * NS)) for start in (0, round((took_s + 1.0) * NS))
    ]


def test_a_turn_whose_last_try_failed_is_unfinished_with_the_last_error() -> None:
    replies, log = run(refused, PLANS, Load(stream=False, retries=3))
    assert [(r.status, r.tries) for r in replies] == [("transport_error", 4), ("not_sent", 0)]
    assert replies[0].error == f"HTTP 500: {ROOM['message']}"
    assert log.counters["client_retries"] == 3


def test_without_the_option_nobody_asks_again() -> None:
    replies, log = run(first(refused, 1), PLANS)
    assert [(r.status, r.tries) for r in replies] == [("transport_error", 1), ("not_sent", 0)]
    assert "client_retries" not in log.counters


def test_a_wrong_reply_is_a_reply_and_never_asked_for_again() -> None:
    replies, _ = run(lambda body: whole("nonsense"), PLANS, Load(stream=False, retries=5))
    assert [(r.status, r.tries) for r in replies] == [("ok", 1)] * 2


def test_a_client_that_leaves_does_not_come_back() -> None:
    load = Load(abort_rate=1.0, abort_within_s=1.0, retries=5)
    replies, log = run(slow, PLANS, load)
    assert [(r.status, r.tries) for r in replies] == [("aborted", 1), ("not_sent", 0)]
    assert "client_retries" not in log.counters

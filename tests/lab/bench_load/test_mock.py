"""The mock server's truth: when its tokens are due, what they say, what it tells of them."""

from __future__ import annotations

import asyncio
import json

from engine import clock
from lab.bench_load.mock import Book, Connection, Pace, Script, Truth
from lab.driver.http1 import Chunked, take_head
from lab.driver.received import Received
from lab.driver.sse import SseReader

PACE = Pace(ttft_s=0.5, itl_s=0.25, tokens=4)


class Wire(asyncio.Transport):
    """Keeps what a connection writes, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[tuple[float, bytes]] = []

    def write(self, data: object) -> None:
        assert isinstance(data, bytes)
        self.written.append((clock.now(), data))


def asked(*requests: bytes, wait_s: float = 10.0) -> tuple[list[tuple[float, bytes]], Book]:
    """What is written when these parts of requests come, a while apart, by the virtual clock."""
    wire, book = Wire(), Book()

    async def main() -> None:
        connection = Connection(PACE, Script(PACE.tokens), book)
        connection.connection_made(wire)
        for part in requests:
            connection.data_received(part)
            await clock.sleep(wait_s)

    clock.run(main())
    return wire.written, book


def post(stream: bool) -> bytes:
    body = json.dumps({"stream": stream, "messages": []}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def get(path: str) -> dict[str, object]:
    written, _ = asked(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    found: dict[str, object] = json.loads(written[0][1].partition(b"\r\n\r\n")[2])
    return found


def test_a_token_is_due_after_its_request_whatever_the_others_did() -> None:
    written, book = asked(post(stream=True))
    assert [at for at, _ in written] == [0.0, 0.5, 0.75, 1.0, 1.25]
    assert book.tokens == 4


def test_a_stream_is_what_a_client_reads_to_its_end() -> None:
    written, _ = asked(post(stream=True))
    taken = take_head(b"".join(data for _, data in written))
    assert taken is not None
    body, reader, received = Chunked(), SseReader(), Received()
    for event in reader.feed(body.feed(taken[1]).decode()):
        received.take_delta(event, 1.0)
    reader.finish()
    assert (body.over, body.rest) == (True, b"")
    assert (received.content, received.finish_reason) == (" tok0 tok1 tok2 tok3", "stop")
    assert received.usage["completion_tokens"] == 4


def test_a_request_may_come_in_parts_and_the_next_on_the_same_connection() -> None:
    whole = post(stream=True)
    written, book = asked(whole[:30], whole[30:-5], whole[-5:], whole)
    first, again = written[:5], written[5:]
    assert [at for at, _ in first] == [20.0, 20.5, 20.75, 21.0, 21.25]
    assert [at - 10.0 for at, _ in again] == [20.0, 20.5, 20.75, 21.0, 21.25]
    assert book.truth().replies == 2


def test_a_reply_that_is_not_streamed_comes_when_its_last_token_would() -> None:
    ((at, data),), _ = asked(post(stream=False))
    assert at == 1.25
    assert json.loads(data.partition(b"\r\n\r\n")[2])["choices"][0]["finish_reason"] == "stop"


def test_a_client_that_leaves_gets_no_more() -> None:
    wire, book = Wire(), Book()

    async def main() -> None:
        connection = Connection(PACE, Script(PACE.tokens), book)
        connection.connection_made(wire)
        connection.data_received(post(stream=True))
        await clock.sleep(0.6)
        connection.connection_lost(None)
        await clock.sleep(5.0)

    clock.run(main())
    assert (len(wire.written), book.tokens, book.truth().replies) == (2, 1, 0)


def test_the_truth_is_told_in_means_and_in_how_late_tokens_were() -> None:
    book = Book()
    for late_s in (0.0, 0.001, 0.002):
        book.token(late_s)
    book.reply(0.02, 0.010)
    book.reply(0.04, 0.012)
    truth = book.truth()
    assert (truth.replies, round(truth.ttft_s, 6), round(truth.itl_s, 6)) == (2, 0.03, 0.011)
    assert truth.late_p99_s == 0.002


def test_what_it_is_asked_about_itself_it_answers() -> None:
    assert get("/sent") == {"tokens": 0}
    assert get("/health") == {}
    assert Truth(**get("/truth")).replies == 0  # type: ignore[arg-type]
    assert get("/v1/models")["data"][0]["id"] == "mock"  # type: ignore[index]
    assert "error" in get("/metrics")

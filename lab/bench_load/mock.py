"""A server of which the truth is known: every reply's first token and gaps come when they should.

Token k of a reply is due ``ttft_s + k * itl_s`` after its request, however late the one before it
was, so that lateness never adds up. It speaks as much of HTTP/1.1 as OpenAI's streaming needs,
straight from the socket: a token costs one timer and one write. One rule: nothing is computed for a
reply that could be computed before.

A program: ``python -m lab.bench_load.mock PORT TTFT_S ITL_S TOKENS``. ``/sent`` tells how many
tokens went out, ``/truth`` what became of all of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from array import array
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from engine.clock import cpu_s

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "mock"
CHAT = b"/chat/completions"
ENOUGH = 1_000_000  # lateness samples kept
STREAM = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)


@dataclass(frozen=True)
class Pace:
    """What is true of every reply: seconds and tokens."""

    ttft_s: float = 0.020
    itl_s: float = 0.010
    tokens: int = 64

    @property
    def reply_s(self) -> float:
        """From a request to its reply's last token."""
        return self.ttft_s + (self.tokens - 1) * self.itl_s


@dataclass(frozen=True)
class Truth:
    """What the server did: means over whole replies, lateness of single tokens, its own cost."""

    replies: int
    ttft_s: float
    itl_s: float
    late_p99_s: float
    cpu_s: float


class Book:
    """Adds up what was sent."""

    def __init__(self) -> None:
        self.tokens = self._replies = 0
        self._ttft_s = self._itl_s = 0.0
        self._late_s = array("d")

    def token(self, late_s: float) -> None:
        """One token went out, so much later than it was due."""
        self.tokens += 1
        if self.tokens <= ENOUGH:
            self._late_s.append(late_s)

    def reply(self, ttft_s: float, itl_s: float) -> None:
        """One reply is over."""
        self._replies += 1
        self._ttft_s += ttft_s
        self._itl_s += itl_s

    def truth(self) -> Truth:
        """All that was sent so far."""
        many, late = max(1, self._replies), sorted(self._late_s)
        p99_s = late[len(late) * 99 // 100] if late else 0.0
        return Truth(self._replies, self._ttft_s / many, self._itl_s / many, p99_s, cpu_s())


class Script:
    """The bytes of every reply, made once: one chunk of HTTP a token, and what ends the reply."""

    def __init__(self, tokens: int) -> None:
        words = [f" tok{number}" for number in range(tokens)]
        usage = {"prompt_tokens": 16, "completion_tokens": tokens, "total_tokens": 16 + tokens}
        self.tokens = [_event(_delta(word)) for word in words]
        end = _event(_delta(None, "stop")) + _event(_head() | {"choices": [], "usage": usage})
        self.tokens[-1] += end + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
        message = {"role": "assistant", "content": "".join(words)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.whole = _head("chat.completion") | {"choices": [choice], "usage": usage}


class Connection(asyncio.Protocol):
    """One client's connection, one request at a time."""

    def __init__(self, pace: Pace, script: Script, book: Book) -> None:
        self._pace, self._script, self._book = pace, script, book
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._timer: asyncio.TimerHandle | None = None
        self._out: asyncio.Transport | None = None
        self._asked_s = self._first_s = 0.0
        self._next = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is there."""
        assert isinstance(transport, asyncio.Transport)
        self._out = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone: its reply ends here."""
        self._out = None
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """A part of a request; answered when it is whole."""
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if end and len(body) >= _length(head):
            self._buffer = b""
            self._answer(head.split(b" ", 2)[1], body)

    def _answer(self, path: bytes, body: bytes) -> None:
        self._asked_s, self._next = self._loop.time(), 0
        if not path.endswith(CHAT):
            found = _about(path, self._book)
            unknown = {"error": {"message": "no such path"}}
            self._whole(*((unknown, 404) if found is None else (found, 200)))
        elif b'"stream":true' in body.replace(b" ", b""):
            self._write(STREAM)
            self._due(self._token)
        else:
            self._next = self._pace.tokens - 1
            self._due(lambda: self._whole(self._script.whole, 200))

    def _due(self, then: Callable[[], None]) -> None:
        self._timer = self._loop.call_at(self._due_s(), then)

    def _due_s(self) -> float:
        return self._asked_s + self._pace.ttft_s + self._next * self._pace.itl_s

    def _token(self) -> None:
        now_s = self._loop.time()
        if self._next == 0:
            self._first_s = now_s
        self._book.token(now_s - self._due_s())
        self._write(self._script.tokens[self._next])
        self._next += 1
        if self._next < self._pace.tokens:
            self._due(self._token)
        else:
            gaps = max(1, self._pace.tokens - 1)
            self._book.reply(self._first_s - self._asked_s, (now_s - self._first_s) / gaps)

    def _whole(self, document: Any, status: int) -> None:
        body = json.dumps(document).encode()
        head = f"HTTP/1.1 {status} .\r\ncontent-type: application/json\r\ncontent-length: "
        self._write(head.encode() + b"%d\r\n\r\n" % len(body) + body)

    def _write(self, data: bytes) -> None:
        if self._out is not None:
            self._out.write(data)


def _length(head: bytes) -> int:
    """What the head says of the body; clients that send chunks are none that are measured here."""
    _, _, told = head.lower().partition(b"\r\ncontent-length:")
    return int(told.split(b"\r\n", 1)[0]) if told else 0


def _about(path: bytes, book: Book) -> dict[str, Any] | None:
    if path == b"/sent":
        return {"tokens": book.tokens}
    if path == b"/truth":
        return asdict(book.truth())
    if path == b"/health":
        return {}
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "kvlab"}
    return {"object": "list", "data": [model]} if path == b"/v1/models" else None


def _head(kind: str = "chat.completion.chunk") -> dict[str, Any]:
    return {"id": "chatcmpl-mock", "object": kind, "created": 0, "model": MODEL}


def _delta(word: str | None, finish: str | None = None) -> dict[str, Any]:
    delta = {} if word is None else {"role": "assistant", "content": word}
    return _head() | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _event(document: Any) -> bytes:
    return _chunk(b"data: " + json.dumps(document).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def serve(port: int, pace: Pace) -> None:
    """Serve on loopback for as long as nobody ends it."""
    script, book = Script(pace.tokens), Book()
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(pace, script, book), "127.0.0.1", port, backlog=1024
    )
    await server.serve_forever()


if __name__ == "__main__":
    at, ttft_s, itl_s, many = sys.argv[1:]
    asyncio.run(serve(int(at), Pace(float(ttft_s), float(itl_s), int(many))))

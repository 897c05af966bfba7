"""A server on loopback that answers byte by byte as a test tells it to, and not always at all.

One rule: what is told goes over a real socket; it is a thread of the test with a loop of its own,
and waits for nothing but its client.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Tell = Callable[["Caller"], Awaitable[None]]
STREAM = "text/event-stream"
CARD = {"id": "theirs", "object": "model", "owned_by": "somebody"}


@dataclass
class Caller:
    """One request of a client: its path, headers, JSON and method, and the way to answer it."""

    path: str
    headers: dict[str, str]
    asked: Any
    writer: asyncio.StreamWriter
    server: Sick
    method: str

    async def send(self, data: bytes) -> None:
        """Bytes, at once and as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def begin(self, status: str = "200 OK", **headers: str) -> None:
        """The head of a response whose body comes in chunks."""
        told = {"content-type": STREAM, "transfer-encoding": "chunked", **headers}
        lines = [f"HTTP/1.1 {status}", *(f"{k.replace('_', '-')}: {v}" for k, v in told.items())]
        await self.send("\r\n".join([*lines, "", ""]).encode())

    async def part(self, data: bytes) -> None:
        """One chunk of the body."""
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self) -> None:
        """The empty chunk."""
        await self.send(b"0\r\n\r\n")

    async def whole(self, status: str, body: bytes, **headers: str) -> None:
        """A response in one piece."""
        told = {"content-type": "application/json", "content-length": len(body), **headers}
        lines = [f"HTTP/1.1 {status}", *(f"{k.replace('_', '-')}: {v}" for k, v in told.items())]
        await self.send("\r\n".join([*lines, "", ""]).encode() + body)

    def reset(self) -> None:
        """Tear the connection down: what was sent and not yet read is lost."""
        told = self.writer.get_extra_info("socket")
        told.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def never(self) -> None:
        """Wait until the client has gone."""
        await self.writer.wait_closed()


@dataclass
class Sick:
    """``tell`` answers chats; ``documents`` are served by path, or tell how they are; ``heard`` is
    all that was asked.
    """

    tell: Tell
    documents: dict[str, Any] = field(default_factory=lambda: {"/v1/models": {"data": [CARD]}})
    heard: list[Caller] = field(default_factory=list)
    status: str = "404 Not Found"  # of what is not among the documents
    url: str = ""
    listening: asyncio.Server | None = None
    answers: dict[asyncio.StreamWriter, asyncio.Task[None]] = field(default_factory=dict)

    @property
    def connections(self) -> int:
        """How many there were."""
        return len(self.answers)

    def close(self) -> None:
        """Nobody listens any more."""
        assert self.listening is not None
        self.listening.close()

    async def hang_up(self) -> None:
        """Close every connection, whatever was still to be sent, and wait until it is closed."""
        while accepting := asyncio.all_tasks() - {asyncio.current_task(), *self.answers.values()}:
            await asyncio.wait(accepting)  # asyncio loses what it is accepting when it closes
        self.close()
        for writer, answer in self.answers.items():
            answer.cancel()
            writer.transport.abort()
        closed = (writer.wait_closed() for writer in self.answers)
        await asyncio.gather(*closed, return_exceptions=True)

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection is known from its first moment, not only once its answer is begun."""
        self.answers[writer] = asyncio.create_task(self.answer(reader, writer))

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Every request of one connection."""
        try:
            while (caller := await self._request(reader, writer)) is not None:
                self.heard.append(caller)
                await self._answer(caller)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, caller: Caller) -> None:
        if caller.path == "/v1/chat/completions":
            return await self.tell(caller)
        told = self.documents.get(caller.path)
        if told is None:
            return await caller.whole(self.status, b"{}")
        if callable(told):
            return await told(caller)
        body = told if isinstance(told, bytes) else json.dumps(told).encode()
        await caller.whole("200 OK", body)

    async def _request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Caller | None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        own = dict(line.split(": ", 1) for line in head[1:] if line)
        method, path, _ = head[0].split()
        return Caller(path, own, json.loads(raw or b"null"), writer, self, method)


@contextmanager
def sick(tell: Tell, documents: dict[str, Any] | None = None) -> Iterator[Sick]:
    """A listening server; its ``url`` ends with the block."""
    server = Sick(tell) if documents is None else Sick(tell, documents)
    ready, over = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        server.listening = await asyncio.start_server(server.connected, "127.0.0.1", 0)
        port = server.listening.sockets[0].getsockname()[1]
        server.url = f"http://127.0.0.1:{port}"
        loops.append(asyncio.get_running_loop())
        ready.set()
        await over.wait()
        await server.hang_up()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(20), "the server did not start"
    try:
        yield server
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join(20)
        assert not thread.is_alive()


def event(**told: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(told, ensure_ascii=False).encode() + b"\n\n"


def says(finish_reason: str | None = None, **delta: Any) -> bytes:
    """An event with one delta."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return event(id="chatcmpl-1", choices=[choice])


DONE = b"data: [DONE]\n\n"
GOOD = says(content="hello") + says(content=" wörld｜") + says("stop") + DONE


async def well(caller: Caller) -> None:
    """A whole reply, whose body goes out at once: nothing comes between its parts."""
    await caller.begin()
    await caller.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD))

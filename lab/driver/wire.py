"""httpx over connections of our own: hundreds of streams from one process, each read when it comes.

httpx's usual transport spends some 150 µs on every token of a stream, and with 256 sessions its
pool alone keeps first tokens waiting for seconds: times that a report would blame on the server.
Here the socket's callback decodes what came and notes when; ``response.extensions["arrived"]`` is
a function that tells the loop's time at which the part of the body that was read last arrived, and
``["sent_s"]`` the time at which the request went out, once there was a connection.

One rule: a failure is the exception that httpx would raise (`httpx.ConnectError`, `ReadError`,
`RemoteProtocolError`, `ReadTimeout`); nothing is asked twice. HTTP/1.1 over TCP or TLS, no proxies;
no limit on connections, for sessions have seats (`lab.driver.seats`).
"""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx

from lab.driver.http1 import body_of, take_head

if TYPE_CHECKING:
    from ssl import SSLContext

    from lab.driver.http1 import Body, Head

IDLE_S = 4.0  # uvicorn, hence vLLM and SGLang, closes a connection that was idle for 5 s
SILENT = "Server disconnected without sending a response."
Origin = tuple[str, str, int]


class Wire(httpx.AsyncBaseTransport):
    """Give it to ``httpx.AsyncClient(transport=...)``; keep-alive, the last used first."""

    def __init__(self) -> None:
        self._idle: dict[Origin, list[Connection]] = {}
        self._open: dict[Connection, None] = {}
        self._tls: SSLContext | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the response is here when its head is."""
        body = await request.aread()
        limits = request.extensions.get("timeout", {})
        connection = await self._connection(request.url, limits.get("connect"))
        try:
            head = await connection.ask(request, body, limits.get("read"))
        except BaseException:
            connection.abort()
            raise
        extensions = {
            "arrived": connection.arrived,
            "sent_s": connection.sent_s,
            "http_version": b"HTTP/1.1",
        }
        return httpx.Response(
            head.status, headers=head.headers, stream=_Stream(connection), extensions=extensions
        )

    async def aclose(self) -> None:
        """Close every connection."""
        for connection in list(self._open):
            connection.abort()
        self._idle.clear()
        await asyncio.sleep(0)  # the sockets close in the loop's next turn

    async def _connection(self, url: httpx.URL, timeout_s: float | None) -> Connection:
        origin = url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)
        idle = self._idle.setdefault(origin, [])
        while idle:
            connection = idle.pop()
            if connection.usable():
                return connection
            connection.abort()
        return await self._connect(origin, idle, timeout_s)

    async def _connect(
        self, origin: Origin, idle: list[Connection], timeout_s: float | None
    ) -> Connection:
        scheme, host, port = origin
        if scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"not a protocol to ask over: {scheme!r}")
        if scheme == "https" and self._tls is None:
            self._tls = httpx.create_ssl_context()
        loop, tls = asyncio.get_running_loop(), self._tls if scheme == "https" else None
        try:
            async with asyncio.timeout(timeout_s):
                _, connection = await loop.create_connection(
                    lambda: Connection(idle, self._open), host, port, ssl=tls
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"no connection within {timeout_s} s") from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from _plain(error)
        return connection


class Connection(asyncio.Protocol):
    """One connection, which serves one request at a time; it goes back to ``idle`` by itself."""

    def __init__(self, idle: list[Connection], opened: dict[Connection, None]) -> None:
        self._loop, self._idle, self._opened = asyncio.get_running_loop(), idle, opened
        self._out: asyncio.Transport | None = None
        self._method, self._buffer = "", b""
        self._head: Head | None = None
        self._body: Body | None = None
        self._parts: deque[tuple[float, bytes]] = deque()  # when it came, and what
        self._waiter: asyncio.Future[None] | None = None
        self._error: httpx.TransportError | None = None
        self._busy = self._lost = False
        self._came_s = self._read_s = self.sent_s = self._loop.time()
        self._patience_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def usable(self) -> bool:
        """Whether an idle connection may still be asked."""
        return not self._lost and self._loop.time() - self._came_s < IDLE_S

    def arrived(self) -> float:
        """The loop's time at which the part that was read last arrived, seconds."""
        return self._read_s

    async def ask(self, request: httpx.Request, body: bytes, patience_s: float | None) -> Head:
        """Send a request and wait for the head; at most ``patience_s`` without a byte."""
        self._method, self._buffer, self._head, self._body = request.method, b"", None, None
        self._busy, self._patience_s = True, patience_s
        self._came_s = self._read_s = self.sent_s = self._loop.time()
        if patience_s is not None:
            self._timer = self._loop.call_later(patience_s, self._overdue)
        if self._out is not None and not self._lost:
            self._out.write(_bytes(request, body))
        return await self._answer()

    async def _answer(self) -> Head:
        while self._head is None:
            await self._wait()
        return self._head

    async def read(self) -> bytes:
        """The next part of the body; empty at its end."""
        while not self._parts:
            if self._body is None or self._body.over:
                return b""
            await self._wait()
        self._read_s, part = self._parts.popleft()
        return part

    def release(self) -> None:
        """The reader is done: ready for the next request, or closed where the body was not read."""
        if self._busy and not self._kept():
            self.abort()

    def abort(self) -> None:
        """Close at once."""
        self._rest()
        if self._out is not None:
            self._out.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        assert isinstance(transport, asyncio.Transport)
        self._out, self._opened[self] = transport, None

    def data_received(self, data: bytes) -> None:
        """Decode what came, and note when."""
        self._came_s = self._loop.time()
        try:
            self._take(data)
        except httpx.RemoteProtocolError as error:
            self._fail(error)
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The server has gone, or we have; a body that only this ends is whole now."""
        self._lost = True
        self._opened.pop(self, None)
        try:
            if exc is not None:
                raise httpx.ReadError(str(exc))
            if self._head is None:
                raise httpx.RemoteProtocolError(SILENT)
            if self._body is not None and not self._body.over:
                self._body.close()
        except httpx.TransportError as error:
            self._error = self._error or error
        self._wake()

    def _take(self, data: bytes) -> None:
        if not self._busy:
            raise httpx.RemoteProtocolError("an answer that nobody asked for")
        if self._body is None:
            taken = take_head(self._buffer + data)
            if taken is None:
                self._buffer += data
                return
            self._head, data = taken
            self._body = body_of(self._head, self._method)
        part = self._body.feed(data) if data else b""
        if part:
            self._parts.append((self._came_s, part))

    def _fail(self, error: httpx.TransportError) -> None:
        self._error = self._error or error
        if self._out is not None:
            self._out.abort()

    def _overdue(self) -> None:
        assert self._patience_s is not None
        silent_s = self._loop.time() - self._came_s
        if silent_s < self._patience_s:
            self._timer = self._loop.call_later(self._patience_s - silent_s, self._overdue)
            return
        self._fail(httpx.ReadTimeout(f"no byte within {self._patience_s} s"))
        self._wake()

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        await self._waiter

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _kept(self) -> bool:
        """Whether the next request may use this connection; it waits for it, if so."""
        body, head = self._body, self._head
        if body is None or head is None or not body.over or body.rest or self._parts:
            return False
        if self._lost or self._error is not None or not head.keeps:
            return False
        self._rest()
        self._idle.append(self)
        return True

    def _rest(self) -> None:
        self._busy = False
        self._parts.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Stream(httpx.AsyncByteStream):
    """A response's body, as httpx reads it."""

    def __init__(self, connection: Connection) -> None:
        self._connection: Connection | None = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection = self._connection
        while connection is not None and (part := await connection.read()):
            yield part

    async def aclose(self) -> None:
        """Done reading, wherever that was."""
        if self._connection is not None:
            self._connection.release()
        self._connection = None


def _plain(error: OSError) -> OSError:
    """What the attempts at a host's several addresses have in common, where all were refused."""
    said = str(error)
    refused = said.count(f"[Errno {errno.ECONNREFUSED}]")
    several = error.errno is None and refused and refused == said.count("[Errno ")
    return ConnectionRefusedError(said) if several else error


def _bytes(request: httpx.Request, body: bytes) -> bytes:
    """A request as it goes over the wire, in one piece."""
    target = request.url.raw_path or b"/"
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), target)]
    lines += [b"%s: %s" % pair for pair in request.headers.raw]
    if "transfer-encoding" in request.headers:
        body = (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
    return b"\r\n".join(lines) + b"\r\n\r\n" + body

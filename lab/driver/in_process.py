"""httpx over an ASGI application in this process, keeping the time of the first byte.

httpx's own transport hands the body over when the application has finished; so does this one (one
event at a time would cost a task switch a token), but it notes when the first part of the body was
sent, as ``response.extensions["first_body_s"]``. One rule: the application runs in the client's
task, so a client that leaves cancels it, which is the in-process form of a disconnect.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx

from engine.clock import now

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Message = MutableMapping[str, Any]
    App = Callable[
        [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
        Awaitable[None],
    ]


class InProcess(httpx.AsyncBaseTransport):
    """Serves requests from ``app``. What the application raises becomes a 500, or a cut body."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange, from the request's body to the application's end."""
        exchange = _Exchange(await request.aread())
        try:
            await self._app(_scope(request), exchange.receive, exchange.send)
        except Exception as error:
            if exchange.status is None:
                return httpx.Response(500, text=f"{type(error).__name__}: {error}")
        return httpx.Response(
            exchange.status or 500,
            headers=exchange.headers,
            content=b"".join(exchange.parts),
            extensions={"first_body_s": exchange.first_s},
        )


class _Exchange:
    """The two callables that an ASGI application talks to, and what they heard."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self.status: int | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.parts: list[bytes] = []
        self.first_s: float | None = None  # loop seconds

    async def receive(self) -> Message:
        """The body, then nothing until the exchange is cancelled: a client leaves by that."""
        if self._body is None:
            await asyncio.get_running_loop().create_future()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Take a part of the response."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", []))
        elif message["type"] == "http.response.body" and message.get("body"):
            if self.first_s is None:
                self.first_s = now()
            self.parts.append(message["body"])


def _scope(request: httpx.Request) -> Message:
    """The ASGI connection scope of a request."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "query_string": request.url.query,
        "server": (request.url.host, request.url.port),
        "client": ("127.0.0.1", 123),
        "root_path": "",
    }

"""One request to a chat-completions endpoint, streamed or not, and what became of it.

One rule: whatever the server does, ``ask`` returns an ``Outcome``; only cancellation gets out.
The same code serves an ASGI application in this process and a URL: the httpx client decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from engine.clock import now
from lab.driver.received import Received
from lab.driver.refusal import refusal
from lab.driver.sse import BrokenStream, SseReader

PATH = "/v1/chat/completions"


@dataclass(frozen=True)
class Ask:
    """How to ask. ``leave_s`` is when this client walks away, None if it waits; seconds."""

    messages: Sequence[dict[str, Any]]
    tools: Sequence[dict[str, Any]]
    stream: bool
    max_tokens: int
    timeout_s: float
    leave_s: float | None = None
    model: str = "kvlab"

    def body(self) -> dict[str, Any]:
        """The request's JSON; ``return_token_ids`` is our extension, strangers ignore it."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(self.messages),
            "tools": list(self.tools),
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "stream": self.stream,
            "return_token_ids": True,
        }
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        return body


@dataclass
class Outcome:
    """What became of a request: ``status`` as in ``Reply``, with what had arrived by then."""

    received: Received
    sent_s: float
    status: str = "ok"
    done_s: float | None = None
    error: str | None = None
    chunks: list[str] = field(default_factory=list)  # the body's text, as it was cut


async def ask(http: httpx.AsyncClient, request: Ask) -> Outcome:
    """Send, read to the end, and say how it ended."""
    outcome = Outcome(Received(), sent_s=now())
    leave_s = request.leave_s
    leaves = leave_s is not None and leave_s < request.timeout_s
    limit = leave_s if leaves else request.timeout_s
    try:
        async with asyncio.timeout(limit):
            await _exchange(http, request, outcome)
    except TimeoutError:
        outcome.status = "aborted" if leaves else "timeout"
        outcome.error = f"{'left' if leaves else 'no end'} after {limit} s"
    except (httpx.HTTPError, BrokenStream) as error:
        outcome.status = "transport_error"
        name = "" if isinstance(error, BrokenStream) else f"{type(error).__name__}: "
        outcome.error = f"{name}{error}"
    outcome.done_s = now()
    return outcome


async def _exchange(http: httpx.AsyncClient, request: Ask, outcome: Outcome) -> None:
    async with http.stream("POST", PATH, json=request.body()) as response:
        if response.status_code != 200:
            body = (await response.aread()).decode(errors="replace")
            raise BrokenStream(f"HTTP {response.status_code}: {refusal(body)}")
        if request.stream:
            await _read_stream(response, outcome)
        else:
            await _read_whole(response, outcome)
    got, first_s = outcome.received, response.extensions.get("first_body_s")
    got.first_token_s = got.first_token_s if first_s is None else first_s
    if got.finish_reason is None:
        raise BrokenStream("the reply ended without a finish_reason")


async def _read_whole(response: httpx.Response, outcome: Outcome) -> None:
    await response.aread()
    outcome.chunks.append(response.text)
    try:
        body = response.json()
    except (ValueError, RecursionError):
        raise BrokenStream(f"not JSON: {response.text[:60]!r}") from None
    outcome.received.take_whole(body)
    outcome.received.first_token_s = now()


async def _read_stream(response: httpx.Response, outcome: Outcome) -> None:
    reader = SseReader()
    outcome.chunks = reader.chunks
    async for text in response.aiter_text():
        for event in reader.feed(text):
            outcome.received.take_delta(event, now())
    reader.finish()

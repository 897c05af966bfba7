"""One request to a chat-completions endpoint, streamed or not, and what became of it.

One rule: whatever the server does, ``ask`` returns an ``Outcome``; only cancellation gets out.
The same code serves an ASGI application in this process and a URL: the httpx client decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import httpx

from engine.clock import now
from lab.driver import failures
from lab.driver.reading import Silence, read_stream, read_whole
from lab.driver.received import Received
from lab.driver.refusal import refusal
from lab.driver.sse import BrokenStream

PATH = "/v1/chat/completions"
OURS: Mapping[str, Any] = {"return_token_ids": True}  # our extension: the raw text can be known


@dataclass(frozen=True)
class Ask:
    """How to ask. ``leave_s`` is when this client walks away, None if it waits; seconds.

    ``stall_s`` is how long it waits for the next part of a stream; ``extra`` are the extensions
    of the API that this server knows.
    """

    messages: Sequence[dict[str, Any]]
    tools: Sequence[dict[str, Any]]
    stream: bool
    max_tokens: int
    timeout_s: float
    leave_s: float | None = None
    model: str = "kvlab"
    stall_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: OURS)

    def body(self) -> dict[str, Any]:
        """The request's JSON; no tools are no list of them, which some servers refuse."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(self.messages),
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "stream": self.stream,
            **self.extra,
        }
        if self.tools:
            body["tools"] = list(self.tools)
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        return body


@dataclass
class Outcome:
    """What became of a request: ``status`` as in ``Reply``, with what had arrived by then.

    ``pause_s`` is how long the server asks a client to wait before it asks again.
    """

    received: Received
    sent_s: float
    status: str = "ok"
    done_s: float | None = None
    error: str | None = None
    chunks: list[str] = field(default_factory=list)  # the body's text, as it was cut
    last_part_s: float | None = None
    pause_s: float = 0.0


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
        outcome.error = f"left after {limit} s" if leaves else _overdue(outcome, limit)
    except Silence as silence:
        outcome.status, outcome.error = "timeout", str(silence)
    except httpx.HTTPError as error:
        outcome.status = "transport_error"
        outcome.error = failures.broken(error, len(outcome.chunks))
    except BrokenStream as error:
        outcome.status, outcome.error = "transport_error", str(error)
    outcome.done_s = now()
    return outcome


def _overdue(outcome: Outcome, limit: float | None) -> str:
    last_s = outcome.last_part_s
    ago_s = None if last_s is None else now() - last_s
    return failures.overdue(limit or 0.0, len(outcome.chunks), ago_s)


@lru_cache(maxsize=16)
def _endpoint(base: httpx.URL) -> httpx.URL:
    """The endpoint's whole URL: httpx parses a path anew for each request, a third of its cost."""
    return base.copy_with(raw_path=base.raw_path + PATH.removeprefix("/").encode())


async def _exchange(http: httpx.AsyncClient, request: Ask, outcome: Outcome) -> None:
    async with http.stream("POST", _endpoint(http.base_url), json=request.body()) as response:
        outcome.sent_s = response.extensions.get("sent_s", outcome.sent_s)
        if response.status_code != 200:
            body = (await response.aread()).decode(errors="replace")
            outcome.chunks = [body]
            outcome.pause_s = failures.retry_after_s(response.headers)
            raise BrokenStream(_refused(response, body))
        if request.stream:
            await read_stream(response, outcome, request.stall_s)
        else:
            await read_whole(response, outcome)
    got, first_s = outcome.received, response.extensions.get("first_body_s")
    if first_s is not None:  # the body was kept until it was whole: its parts have no times
        got.first_token_s, got.token_times = first_s, []
    if request.extra is not OURS:
        got.token_ids = None  # of whatever vocabulary, and nobody asked
    if got.finish_reason is None:
        raise BrokenStream(f"{failures.HALF}: ended without a finish_reason")


def _refused(response: httpx.Response, body: str) -> str:
    said = f"HTTP {response.status_code}: {refusal(body) or 'an empty body'}"
    asked = response.headers.get("retry-after")
    return f"{said} (Retry-After: {asked[:40]})" if asked else said

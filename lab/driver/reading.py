"""The body of a reply, read as it comes. One rule: bytes are UTF-8 or they are no reply: a
character that was cut in two is one character, whatever the chunks.
"""

from __future__ import annotations

import asyncio
import json
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from engine.clock import now
from lab.driver import failures
from lab.driver.failures import HALF, MALFORMED, NOTHING
from lab.driver.sse import BrokenStream, SseReader

if TYPE_CHECKING:
    import httpx

    from lab.driver.client import Outcome

_Utf8 = getincrementaldecoder("utf-8")


class Silence(Exception):
    """No further part came for as long as the client waits for one."""


async def read_whole(response: httpx.Response, outcome: Outcome) -> None:
    """Take one JSON object; raises ``BrokenStream`` for anything else."""
    body = await response.aread()
    text = body.decode(errors="replace")
    outcome.chunks.append(text)
    outcome.last_part_s = now()
    if not body:
        raise BrokenStream(f"{NOTHING}: the body is empty")
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise BrokenStream(f"{MALFORMED}: not JSON: {text[:60]!r}") from None
    outcome.received.take_whole(said)
    outcome.received.first_token_s = now()


async def read_stream(response: httpx.Response, outcome: Outcome, stall_s: float | None) -> None:
    """Take events to their end; raises ``BrokenStream``, and ``Silence`` after ``stall_s``."""
    patience = asyncio.timeout(None)
    try:
        async with patience:
            await _events(response, outcome, patience, stall_s)
    except TimeoutError:
        raise Silence(failures.stalled(stall_s or 0.0, len(outcome.chunks))) from None


async def _events(
    response: httpx.Response, outcome: Outcome, patience: asyncio.Timeout, stall_s: float | None
) -> None:
    reader, text = SseReader(), _Utf8()
    outcome.chunks, received = reader.chunks, outcome.received
    arrived = response.extensions.get("arrived", now)  # this part; it may have waited for the loop
    try:
        async for part in response.aiter_bytes():
            at_s = outcome.last_part_s = arrived()
            if stall_s is not None:
                patience.reschedule(at_s + stall_s)
            for event in reader.feed(text.decode(part)):
                received.take_delta(event, at_s)
    except UnicodeDecodeError as error:
        raise BrokenStream(f"{MALFORMED}: not UTF-8: {error.reason}") from None
    if text.getstate()[0]:
        raise BrokenStream(f"{HALF}: cut inside a character")
    reader.finish()

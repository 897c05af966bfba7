"""Whether a server outlived its arm. One rule: an answer that did not come is no death where every
reply did, nor is one alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import clock
from lab.targets.documents import MODELS, fetched

if TYPE_CHECKING:
    from collections.abc import Iterable

    import httpx

    from lab.launching.servers import Server
    from lab.records import Reply

TRIES, PAUSE_S = 3, 0.5
LAST_WORDS = 40  # looks, 50 ms apart, at a launched server that does not answer any more
GONE = "it does not answer any more"
UNANSWERED = f"GET {MODELS} was not answered after the arm"


async def answers(http: httpx.AsyncClient) -> bool:
    """Whether it still does; it is asked more than once."""
    for n in range(TRIES):
        await clock.sleep(PAUSE_S if n else 0.0)
        if await fetched(http, MODELS) is not None:
            return True
    return False


async def died_of(server: Server, replies: Iterable[Reply]) -> str | None:
    """What a server that does not answer died of; None where nothing says that it did."""
    if (told := await _last_words(server)) is not None:
        return told
    return None if all(reply.status == "ok" for reply in replies if reply.due) else GONE


async def _last_words(server: Server) -> str | None:
    """What a launched server ended of: its connections close a moment before it is gone."""
    for _ in range(LAST_WORDS if server.commands else 1):
        if (died := server.died()) is not None:
            return died
        await clock.sleep(0.05)
    return None

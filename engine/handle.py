"""A caller's end of one generation. One rule: the engine decides how tokens are grouped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from engine.request import Request


class Handle:
    """Iterate it for new token ids, ``interval`` at a time, the last group shorter."""

    def __init__(self, req: Request, interval: int, abort: Callable[[Request], None]) -> None:
        self._req, self._interval, self._abort = req, interval, abort
        self._sent = 0
        self._error: Exception | None = None
        self._news = asyncio.Event()

    @property
    def request_id(self) -> int:
        """The engine's number of the request."""
        return self._req.id

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens that the prefix cache served at the first admission."""
        return self._req.cached_tokens

    @property
    def finish_reason(self) -> str | None:
        """None until the end, then ``stop``, ``length`` or ``abort``."""
        return self._req.finish_reason

    def abort(self) -> None:
        """End the generation now and free what it holds; nothing happens to one that is over."""
        if self._error is None:
            self._abort(self._req)

    def hear(self) -> None:
        """Wake the reader if a whole group is ready, or the end came."""
        if self._req.done or len(self._req.output) - self._sent >= self._interval:
            self._news.set()

    def fail(self, error: Exception) -> None:
        """The generation failed, alone or with the loop: the reader raises, whatever was said.

        What the request holds is given back by whoever says that it failed. The first error stays.
        """
        self._error = self._error or error
        self._news.set()

    async def __aiter__(self) -> AsyncIterator[list[int]]:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._error is not None:
                raise self._error
            while group := self._take():
                yield group
            if self._req.done:
                return

    def _take(self) -> list[int]:
        ready = len(self._req.output) - self._sent
        if not ready or (ready < self._interval and not self._req.done):
            return []
        group = self._req.output[self._sent : self._sent + self._interval]
        self._sent += len(group)
        return group

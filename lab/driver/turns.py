"""Requests are begun a few at a time, so that replies are read meanwhile.

Putting a request together takes some 0.3 ms. Where hundreds of sessions go on in one turn of the
loop, the first of their replies would lie unread until the last was sent, and look late. One rule:
nobody waits longer than it takes to begin those before; between the few and the next few the loop
looks at its sockets.
"""

from __future__ import annotations

import asyncio
from collections import deque

FEW = 8  # a turn


class Turns:
    """Enter it to begin a request; leaving it means nothing."""

    def __init__(self, few: int = FEW) -> None:
        self._few = self._left = few
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._turning = False

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._turning:
            self._turning = True
            loop.call_soon(self._turn)
        if self._left:
            self._left -= 1
            return
        told = loop.create_future()
        self._waiting.append(told)
        await told

    async def __aexit__(self, *error: object) -> None:
        return None

    def _turn(self) -> None:
        """The loop has been round: the next few."""
        self._left = self._few
        while self._left and self._waiting:
            told = self._waiting.popleft()
            if not told.done():
                self._left -= 1
                told.set_result(None)
        self._turning = self._left < self._few
        if self._turning:
            asyncio.get_running_loop().call_soon(self._turn)

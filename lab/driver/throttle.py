"""A cap on requests to somebody else's server, by the wall clock.

One rule: for URL targets only. `asyncio-throttle` reads the real clock and polls every 10 ms, which
under a virtual clock would move time by minutes; there, arrivals come from the plan alone.
"""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Any

from asyncio_throttle.throttler import Throttler

from engine.clock import is_virtual
from lab.driver.turns import Turns

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager


class Capped:
    """Enter it to begin a request: at most ``per_second`` in any second, a few at a time."""

    def __init__(self, per_second: float) -> None:
        if is_virtual():
            raise ValueError("a wall-clock cap under the virtual clock would move virtual time")
        whole = max(1, floor(per_second))
        self._cap: AbstractAsyncContextManager[Any] = Throttler(whole, period=whole / per_second)
        self._turns = Turns()

    async def __aenter__(self) -> None:
        await self._cap.__aenter__()
        await self._turns.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        return None

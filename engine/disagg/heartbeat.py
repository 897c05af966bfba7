"""Whether the other side still lives, asked by the decode side.

One rule: it asks only while the answer matters; a heart that beats for ever never lets virtual time
end.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

INTERVAL_S, MISSES = 5.0, 2  # SGLANG_DISAGGREGATION_HEARTBEAT_INTERVAL, _MAX_FAILURE


class Heartbeat:
    """Asks ``alive`` every ``INTERVAL_S`` seconds while it is ``needed``: while rooms are open and
    something may still become of them. After ``MISSES`` misses in a row it calls ``on_dead``.
    """

    def __init__(
        self,
        alive: Callable[[], bool],
        needed: Callable[[], bool],
        on_dead: Callable[[], None],
    ) -> None:
        self._alive, self._needed, self._on_dead = alive, needed, on_dead
        self._missed = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """A room has opened, or something got on after a silence in which nothing was asked: the
        first question comes an interval later, unless one is due.
        """
        if self._timer is None:
            self._missed = 0
            self._again()

    def stop(self) -> None:
        """Ask nothing any more, until the next ``start``."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _again(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(INTERVAL_S, self._ask)

    def _ask(self) -> None:
        self._timer = None
        if not self._needed():
            return
        self._missed = 0 if self._alive() else self._missed + 1
        if self._missed < MISSES:
            self._again()
        else:
            self._on_dead()

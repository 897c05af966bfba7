"""Says that nothing gets on although something waits, and for whom.

One rule: a timer of its own for every silence, never a periodic one: where nothing is left to
happen the clock must still stall.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.events import EventLog

NS = 1_000_000_000


class Watchdog:
    """After ``limit_s`` seconds without ``progress`` it tells the history once who waits.

    ``waiting`` names who waits for what, a phrase each; nothing waits, nothing is told, until the
    next progress. ``busy`` says that bytes still move or a step is computed: slow is not stuck.
    Whoever arrives behind others that wait is no progress: a load that goes on must not hide that
    they are stuck. ``waits`` says whether anybody waits, and is cheaper; ``on_resume`` hears of
    progress after a silence that was told.
    """

    def __init__(
        self,
        limit_s: float,
        waiting: Callable[[], list[str]],
        busy: Callable[[], bool],
        events: EventLog,
        waits: Callable[[], bool] | None = None,
    ) -> None:
        self.fired = False  # told, and no progress since
        self.on_resume: Callable[[], None] = lambda: None
        self._waits = waits or (lambda: bool(waiting()))
        self._limit_s, self._waiting, self._busy, self._events = limit_s, waiting, busy, events
        self._last_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def arriving(self) -> None:
        """Somebody new is about to wait; the first to do so begins a silence."""
        if not self._waits():
            self.progress()

    def progress(self) -> None:
        """Something got on: the silence begins anew."""
        self._last_s = clock.now()
        if self.fired:
            self.fired = False
            self.on_resume()
        if self._timer is None and not self._stopped:
            self._look_at(self._last_s + self._limit_s)

    def stop(self) -> None:
        """Never tell anything again."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_at(self, when_s: float) -> None:
        self._timer = asyncio.get_running_loop().call_at(when_s, self._look)

    def _look(self) -> None:
        self._timer = None
        due_s = self._last_s + self._limit_s
        if clock.now() < due_s:
            self._look_at(due_s)
        elif stuck := self._waiting():
            if self._busy():
                self._look_at(clock.now() + self._limit_s)
            else:
                self._tell(stuck)

    def _tell(self, stuck: list[str]) -> None:
        self.fired = True
        self._events.emit(
            "no_progress", since_ns=round(self._last_s * NS), waiting="; ".join(stuck)
        )
        self._events.count("fault:no_progress")

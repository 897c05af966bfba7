"""Time. The only module that knows what a second is.

Under the virtual clock an asyncio loop never sleeps: when nothing is ready it jumps to the next
timer, so a 300 s timeout costs microseconds and two runs of one seed see the same times. When
nothing is ready and no timer is set, nothing can ever happen again: that is ``Stalled``.

Under a wall clock the same loop sleeps until its next timer, and the times are those of the
machine. A stall is found by the same test: whatever runs here has no threads, and no sockets that
could wake it. Where timers are set, somebody may give up before they are due: `stall`.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from engine.errors import Stalled

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """A selector that leaves it to its loop what becomes of a wait."""

    def __init__(self) -> None:
        super().__init__()
        self.loop: _Loop | None = None

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or self.loop is None or self.loop.busy():
            return ready
        if timeout is None:
            self.loop.stall()
            return ready
        seconds = self.loop.wait(timeout)
        return super().select(seconds) if seconds else ready


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that knows when nothing can ever happen again. ``kind`` names its time."""

    kind = ""

    def __init__(self) -> None:
        selector = _Selector()
        super().__init__(selector)
        selector.loop = self
        self._main: asyncio.Task[Any] | None = None
        self._born: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()
        self._tasks = 0
        self.set_task_factory(_numbered)
        self._stall: str | None = None  # why nothing could ever happen again, once that is so

    def wait(self, timeout: float) -> float:
        """Nothing is ready before the next timer, ``timeout`` s away: how long to sleep, really."""
        return timeout

    def busy(self) -> bool:
        """Whether callbacks are ready now. A timeout of 0 does not say so: at late times a timer
        that is due in less than a float's last bit gives 0 too, and must still be jumped to.
        """
        return bool(self._ready)  # type: ignore[attr-defined]

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Number a task of this loop: asyncio's own numbers go on from run to run."""
        self._tasks += 1
        self._born[task] = self._tasks

    def unfinished(self) -> list[asyncio.Task[Any]]:
        """The tasks that still run, in the order of their creation."""
        return sorted(asyncio.all_tasks(self), key=lambda task: self._born.get(task, 0))

    def stall(self, why: str = "") -> None:
        """Cancel the main task, which waits for something that cannot come; the first time only."""
        if self._main is None or self._main.done() or self._stall is not None:
            raise Stalled(self._stall or "nothing is scheduled and the main task cannot be woken")
        self._stall = f"stalled at {self.time():.6f} s of {self.kind} time{why and f': {why}'}"
        self._main.cancel(self._stall)

    def run_main(self, coro: Coroutine[Any, Any, T]) -> T:
        """Run ``coro`` to its end; raises ``Stalled`` where it would have hung for ever.

        Whatever ``coro`` makes of its cancellation, a result or an error, counts for nothing.
        """
        self._main = main = self.create_task(coro)
        try:
            result = self.run_until_complete(main)
        except (Exception, asyncio.CancelledError) as error:
            if self._stall is None:
                raise
            raise Stalled(self._stall) from error
        if self._stall is not None:
            raise Stalled(self._stall)
        return result


class VirtualLoop(_Loop):
    """An event loop whose ``time()`` moves only when nothing else can run. Seconds."""

    kind = "virtual"

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__()

    def time(self) -> float:
        return self._now

    def wait(self, timeout: float) -> float:
        """Move to the next timer; always forward, even where a float's last bit is coarse."""
        handles: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        if handles:
            self._now = max(handles[0].when(), math.nextafter(self._now, math.inf))
        return 0.0


class WallLoop(_Loop):
    """An event loop whose ``time()`` is the machine's, from 0 s on when it is made."""

    kind = "wall"

    def __init__(self) -> None:
        self._made = time.monotonic()
        super().__init__()

    def time(self) -> float:
        return time.monotonic() - self._made


def _numbered(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
    task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, **options)
    assert isinstance(loop, _Loop)
    loop.adopt(task)
    return task


def run(coro: Coroutine[Any, Any, T]) -> T:
    """Run ``coro`` under a fresh virtual clock that starts at 0 s."""
    return _run(VirtualLoop(), coro)


def run_wall(coro: Coroutine[Any, Any, T]) -> T:
    """Run ``coro`` under a wall clock that starts at 0 s; raises ``Stalled`` as `run` does."""
    return _run(WallLoop(), coro)


def _run(loop: _Loop, coro: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.set_event_loop(loop)
        return loop.run_main(coro)
    finally:
        _close(loop)


def _close(loop: _Loop) -> None:
    """Cancel what still runs and close the loop, so that nothing leaks into the next run."""
    try:
        left = loop.unfinished()
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def now() -> float:
    """Seconds on the running loop's clock, virtual or wall."""
    return asyncio.get_running_loop().time()


def now_ns() -> int:
    """The running loop's clock in whole nanoseconds: what histories hold."""
    return round(now() * 1e9)


async def sleep(seconds: float) -> None:
    """Let ``seconds`` of the loop's clock pass."""
    await asyncio.sleep(seconds)


def stall(why: str) -> None:
    """Give up what the running loop runs: it ends as ``Stalled``, which says ``why``."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Loop)
    loop.stall(why)


def is_virtual() -> bool:
    """Whether the running loop's clock is virtual."""
    return isinstance(asyncio.get_running_loop(), VirtualLoop)


def wall_s() -> float:
    """Seconds of real time from an arbitrary origin: for reporting cost, never for a decision."""
    return time.perf_counter()


def deadline(seconds: float) -> Callable[[], float]:
    """How many of ``seconds`` of real time are left, never less than 0: for other processes, which
    no loop of ours drives.
    """
    end = time.monotonic() + seconds
    return lambda: max(0.0, end - time.monotonic())


def pause(seconds: float) -> None:
    """Let real time pass while another process has what this one needs; no loop may be running."""
    time.sleep(seconds)


def cpu_s() -> float:
    """Seconds that this process has computed, on all its threads, for durations."""
    return time.process_time()


def wall_date() -> datetime:
    """The real date, UTC: names runs, decides nothing."""
    return datetime.now(UTC)

"""The two orders of an engine's loop.

One rule: the order is all that differs. ``run`` launches a batch: its inputs are those of that
moment; its work is done and its time passes when it is awaited, so arrivals and aborts happen
inside. The tokens are processed at once, or while the next batch runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.request import Request
from engine.sched.batch import Batch

if TYPE_CHECKING:
    from engine.sched.scheduler import Scheduler

Run = Callable[[Batch], Awaitable[Sequence[int]]]
Deliver = Callable[[list[Request]], None]


def to_nobody(heard: list[Request]) -> None:
    """The ``deliver`` of a loop whose tokens nobody waits for."""


class Loop(Protocol):
    """One order of scheduling, running and processing."""

    async def step(self) -> bool:
        """Take one turn; False where there was nothing to do."""


@dataclass
class NormalLoop:
    """Run a batch, then process it. ``deliver`` hears who got a token, step by step."""

    scheduler: Scheduler
    run: Run
    deliver: Deliver = to_nobody

    async def step(self) -> bool:
        batch = self.scheduler.next_batch()
        if batch is None:
            return False
        self.deliver(self.scheduler.finish(batch, await self.run(batch)))
        return True


@dataclass
class OverlapLoop:
    """Launch batch N, and process batch N-1 while N runs: scheduling never waits for tokens.

    A row of N may have ended in N-1. Its token is discarded, and its pages are released when N is
    processed. A full pool drains the pipeline before anybody is retracted.

    N-1 is processed between the launch of N and its work, all at one moment of the clock: a copy
    that processing starts, and that waits for nobody, reads what N has yet to write.
    """

    scheduler: Scheduler
    run: Run
    deliver: Deliver = to_nobody
    _behind: tuple[Batch, Sequence[int]] | None = field(default=None, init=False)

    async def step(self) -> bool:
        batch = self.scheduler.next_batch()
        running = None if batch is None else self.run(batch)
        behind, self._behind = self._behind, None
        if behind is not None:
            self.scheduler.events.count("overlap_steps", running is not None)
            self.deliver(self.scheduler.finish(*behind))
        if batch is not None and running is not None:
            self._behind = (batch, await running)
        return batch is not None or behind is not None

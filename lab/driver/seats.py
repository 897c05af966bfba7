"""Who may converse now: at most so many sessions at once, in the order that their plans ask for.

One rule: nobody holds a seat while waiting for another session, so any number of seats, one
included, brings every plan to its end. A free seat goes to the first session, by its index, whose
turn may be sent; without stages that is first come, first served.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.records import SessionPlan

Waiting = tuple[int, asyncio.Future[None]]  # a session's index, and what tells it


class Circle:
    """The stages of the sessions of one circle: which is open, and who waits for a later one."""

    def __init__(self, plans: Iterable[SessionPlan]) -> None:
        self._due: Counter[int] = Counter()  # stage -> turns not yet over
        for plan in plans:
            self._due.update(_stages(plan))
        self._closing = sorted(self._due, reverse=True)  # the open stage last
        self._early: dict[int, list[Waiting]] = {}

    def is_open(self, stage: int) -> bool:
        """Whether all turns of earlier stages are over."""
        return stage <= self._closing[-1]

    def wait(self, stage: int, waiting: Waiting) -> None:
        """Keep somebody until ``over`` opens the stage."""
        self._early.setdefault(stage, []).append(waiting)

    def over(self, stages: Iterable[int]) -> list[Waiting]:
        """Turns of these stages are over; those who waited for the stage that this opens."""
        self._due.subtract(stages)
        while self._closing and not self._due[self._closing[-1]]:
            self._closing.pop()
        return self._early.pop(self._closing[-1], []) if self._closing else []


class Seats:
    """``concurrency`` seats for the sessions of ``plans``."""

    def __init__(self, plans: Iterable[SessionPlan], concurrency: int) -> None:
        members: dict[int, list[SessionPlan]] = {}
        for plan in plans:
            if plan.stages is not None:
                members.setdefault(plan.stages.circle, []).append(plan)
        self._circles = {circle: Circle(of) for circle, of in members.items()}
        self._free = concurrency
        self._seated: set[int] = set()
        self._over: dict[int, int] = {}  # session -> how many of its turns are over
        self._ready: list[Waiting] = []  # a heap: those who only lack a seat

    async def take(self, plan: SessionPlan, turn: int) -> None:
        """The turns before ``turn`` are over; wait until this one may be sent, with a seat.

        A seat is kept from turn to turn of one stage, and given back between stages.
        """
        self._end(plan, turn)
        stages = _stages(plan)
        if plan.index in self._seated:
            if not stages or stages[turn] == stages[turn - 1]:
                return
            self._stand_up(plan)
        loop = asyncio.get_running_loop()
        told = loop.create_future()
        self._queue(plan, turn, (plan.index, told))
        if stages:
            loop.call_soon(self._fill)  # once all who share this instant are in the queue
        else:
            self._fill()
        if not told.done():
            await told

    def leave(self, plan: SessionPlan) -> None:
        """The session is over, at its end or before."""
        self._end(plan, len(plan.turns))
        if plan.index in self._seated:
            self._stand_up(plan)
        self._fill()

    def _queue(self, plan: SessionPlan, turn: int, waiting: Waiting) -> None:
        if plan.stages is not None:
            circle, stage = self._circles[plan.stages.circle], plan.stages.of_turn[turn]
            if not circle.is_open(stage):
                circle.wait(stage, waiting)
                return
        heapq.heappush(self._ready, waiting)

    def _end(self, plan: SessionPlan, turns: int) -> None:
        """The session's first ``turns`` turns are over."""
        before, self._over[plan.index] = self._over.get(plan.index, 0), turns
        if plan.stages is not None and before < turns:
            over = plan.stages.of_turn[before:turns]
            for waiting in self._circles[plan.stages.circle].over(over):
                heapq.heappush(self._ready, waiting)

    def _stand_up(self, plan: SessionPlan) -> None:
        self._seated.remove(plan.index)
        self._free += 1

    def _fill(self) -> None:
        while self._free and self._ready:
            index, told = heapq.heappop(self._ready)
            if not told.cancelled():
                self._free -= 1
                self._seated.add(index)
                told.set_result(None)


def _stages(plan: SessionPlan) -> tuple[int, ...]:
    return plan.stages.of_turn if plan.stages is not None else ()

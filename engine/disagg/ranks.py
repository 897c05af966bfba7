"""Collectives of the ranks of one side, as NCCL runs them.

One rule: a rank's k-th operation meets the others' k-th. A rank that skips one leaves the others in
theirs for ever; so does one that brings another operation. Nothing here notices: the clock's
``Stalled`` and the watchdog do, and ``waiting`` tells them who waits for whom.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine import clock

if TYPE_CHECKING:
    from engine.events import EventLog


@dataclass(eq=False)
class _Call:
    """What one rank brings to its ``number``-th operation, counted from 1, and when."""

    number: int
    name: str
    values: list[int]
    at_s: float
    met: asyncio.Future[list[int]]

    @property
    def shape(self) -> tuple[str, int]:
        return self.name, len(self.values)


class Collective:
    """The operations of ``size`` ranks of ``side``; one group, one order.

    ``on_enter(rank)`` is called for every rank that has not entered an operation when another
    enters it: whoever sleeps has to come.
    """

    def __init__(self, side: str, size: int, events: EventLog) -> None:
        self.on_enter: Callable[[int], None] | None = None
        self.size, self._side, self._events = size, side, events
        self._entered = [0] * size  # operations, by rank
        self._last: list[_Call | None] = [None] * size
        self._open: dict[int, dict[int, _Call]] = {}  # number -> rank -> call; until all agree

    async def all_reduce_min(self, rank: int, name: str, values: Sequence[int]) -> list[int]:
        """The least of every rank's i-th value; returns once every rank has come."""
        if self.size == 1:
            return list(values)
        return await self._enter(rank, name, values)

    def called(self, rank: int) -> bool:
        """Whether some rank has entered an operation that this one has not."""
        return self._entered[rank] < max(self._entered)

    @property
    def waits(self) -> bool:
        """Whether some rank waits in an operation for another."""
        return bool(self._open)

    def waiting(self) -> list[str]:
        """Who waits in which operation since when, and for whom: a phrase for each such rank.

        It stays readable after the loop in which they waited is gone.
        """
        return [
            f"rank {rank} of {self._side} waits in {call.name} #{call.number} since "
            f"{call.at_s:.3f} s for {' and '.join(self._missing(call, calls))}"
            for calls in self._open.values()
            for rank, call in sorted(calls.items())
        ]

    def _enter(self, rank: int, name: str, values: Sequence[int]) -> asyncio.Future[list[int]]:
        self._entered[rank] = number = self._entered[rank] + 1
        met = asyncio.get_running_loop().create_future()
        call = _Call(number, name, list(values), clock.now(), met)
        self._last[rank] = call
        calls = self._open.setdefault(number, {})
        calls[rank] = call
        if len(calls) == self.size:
            self._meet(number)
        elif self.on_enter is not None:
            for other in range(self.size):
                if self._entered[other] < number:
                    self.on_enter(other)
        return met

    def _meet(self, number: int) -> None:
        """All have come: answer them, if they brought the same operation."""
        calls = [self._open[number][rank] for rank in range(self.size)]
        if len({call.shape for call in calls}) > 1:
            brought = ", ".join(f"{call.name} of {len(call.values)}" for call in calls)
            self._events.emit("collective_mismatch", number=number, brought=brought)
            return
        del self._open[number]
        least = [min(column) for column in zip(*(c.values for c in calls), strict=True)]
        for call in calls:
            if not call.met.done():  # a rank that was cancelled hears nothing
                call.met.set_result(list(least))

    def _missing(self, call: _Call, calls: dict[int, _Call]) -> Iterator[str]:
        """What keeps ``call`` waiting, rank by rank."""
        for rank in range(self.size):
            other, last = calls.get(rank), self._last[rank]
            if other is not None and other.name != call.name:
                instead = f"came to {other.name} #{other.number} instead at {other.at_s:.3f} s"
                yield f"rank {rank}, which {instead}"
            elif other is not None and other.shape != call.shape:
                brought = f"{len(other.values)} values, not {len(call.values)}"
                yield f"rank {rank}, which brought {brought}, at {other.at_s:.3f} s"
            elif other is None and last is not None:
                said = f"last: {last.name} #{last.number} at {last.at_s:.3f} s"
                yield f"rank {rank}, which has not come ({said})"
            elif other is None:
                yield f"rank {rank}, which has not come (it never called)"

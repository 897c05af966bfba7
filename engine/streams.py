"""Copies beside compute: who copies when, on a timeline that compute moves along.

One rule: bytes move when the timeline passes the end of their stage, in the order of time. A copy
that nobody waits for is seen half done by whoever reads in between, as on a GPU's own streams.

Only time is a matter of streams here, by either clock: on a GPU the bytes are moved on the stream
of all other work (`engine.devices`), whenever their stage lands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal, NamedTuple

Move = Callable[[], None]
Direction = Literal["d2h", "h2d"]  # device to host, host to device


class Stage(NamedTuple):
    """Part of a copy that arrives as a whole: ``nbytes`` on the link, and what moves them."""

    nbytes: float
    move: Move


@dataclass(eq=False)
class Copy:
    """One copy on a stream. Times are seconds of the timeline.

    ``ends[i]`` is when stage i has arrived; ``landed`` counts the stages that were moved.
    """

    stream: str
    start_s: float
    ends: list[float]
    landed: int = field(default=0)

    @property
    def finish_s(self) -> float:
        """When the last stage has arrived."""
        return self.ends[-1] if self.ends else self.start_s

    @property
    def done(self) -> bool:
        """Whether every stage was moved."""
        return self.landed == len(self.ends)


class Streams:
    """Named streams over one link of ``bytes_per_s`` each way.

    Whatever goes one way shares its rate: one copy at a time, in the order of issue, of whichever
    stream. ``now`` is the loop's clock; compute that runs ahead of it says how far by
    ``land(until)``.
    """

    def __init__(self, bytes_per_s: float, now: Callable[[], float]) -> None:
        self._rate, self._now = bytes_per_s, now
        self._free_at: dict[Direction, float] = {"d2h": 0.0, "h2d": 0.0}
        self._due: list[tuple[float, int, Copy, Move]] = []
        self._issued = 0
        self._reached = 0.0

    def issue(
        self,
        stream: str,
        stages: Sequence[Stage],
        at: float | None = None,
        direction: Direction = "d2h",
    ) -> Copy:
        """Queue a copy behind what goes its way; it starts at ``at`` (default now) or later."""
        start = self._free(direction, at)
        copy, end = Copy(stream, start, []), start
        for stage in stages:
            end += stage.nbytes / self._rate
            copy.ends.append(end)
            self._issued += 1
            heappush(self._due, (end, self._issued, copy, stage.move))
        if copy.ends:
            self._free_at[direction] = end
        return copy

    def carry(self, direction: Direction, nbytes: float, at: float | None = None) -> float:
        """Take up the link as a copy would, for bytes that somebody moves himself: when they are
        through. No bytes are through at ``at``, whatever else is on its way.
        """
        if not nbytes:
            return self._now() if at is None else at
        self._free_at[direction] = self._free(direction, at) + nbytes / self._rate
        return self._free_at[direction]

    @property
    def moving(self) -> bool:
        """Whether bytes go either way, or are about to. What is due and was not fetched is not."""
        return max(self._free_at.values()) > self._now()

    def land(self, until: float) -> None:
        """Move whatever has arrived at ``until`` (seconds), in the order of its arrival."""
        self._reached = max(self._reached, until)
        while self._due and self._due[0][0] <= self._reached:
            _, _, copy, move = heappop(self._due)
            copy.landed += 1
            move()

    def wait_s(self) -> float | None:
        """Seconds from now until the next stage arrives; None where nothing is on its way."""
        return max(0.0, self._due[0][0] - self._now()) if self._due else None

    def _free(self, direction: Direction, at: float | None) -> float:
        """The first moment from ``at`` (default now) on at which nothing goes that way."""
        return max(self._now() if at is None else at, self._free_at[direction])

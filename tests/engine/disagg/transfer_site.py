"""Transfer workers over a wire without memory, and what they told."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from engine import clock
from engine.config import EngineConfig
from engine.disagg.pieces import Kind, Piece
from engine.disagg.wire import PostState
from engine.disagg.workers import Job, Workers
from engine.events import EventLog
from tests.engine.disagg.fake_wire import FakeWire

SECOND = 1e9  # bytes that one thread moves in a second, in these tests


def piece(nbytes: float, kind: Kind = "kv") -> Piece:
    return Piece(kind, 0, False, (), nbytes)


def job(room: int, *nbytes: float, chunk: int = 0, last: bool = False) -> Job:
    """A job of one piece of KV for each size."""
    return Job(room, chunk, tuple(map(piece, nbytes)), last)


class Site:
    """Workers and what they told, with its time; over a wire without memory unless one is given.

    ``on_piece`` and ``on_end`` hear what the workers tell after it was noted.
    """

    def __init__(self, wire: Any = None, rank: int = 0, **config: Any) -> None:
        self.wire = FakeWire() if wire is None else wire
        self.on_piece: Callable[[Job, Piece], None] = lambda one, arrived: None
        self.on_end: Callable[[Job, PostState], None] = lambda one, state: None
        self.events = EventLog(clock.now_ns)
        self.ended: list[tuple[int, PostState, float]] = []  # (room, how, at)
        self.dead: list[int] = []
        setting = EngineConfig(**{"wire_gb_per_s": SECOND / 1e9, **config})
        self.workers = Workers(
            self.wire, setting, rank, self._piece, self._end, self.dead.__contains__, self.events
        )

    @property
    def order(self) -> list[int]:
        """The rooms of the jobs that have ended, in order."""
        return [room for room, _, _ in self.ended]

    def run(self, *jobs: Job, after: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Queue the jobs at time 0, do what comes ``after``, and carry until nothing is left."""

        async def main() -> None:
            self.workers.start()
            for one in jobs:
                self.workers.add(one)
            if after is not None:
                await after()
            while self.workers.busy:
                await clock.sleep(0.01)

        clock.run(main())

    def _piece(self, one: Job, arrived: Piece) -> None:
        self.on_piece(one, arrived)

    def _end(self, one: Job, state: PostState) -> None:
        self.ended.append((one.room, state, clock.now()))
        self.on_end(one, state)

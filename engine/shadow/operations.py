"""What was done to rows, in the order in which it was done. One rule: an operation says what ran,
on which stream and when; what it should have done is no part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["none", "prefill", "decode", "backup", "load", "transfer", "free"]


class Operation(NamedTuple):
    """One step, copy or transfer. ``lanes`` are the requests of a step's rows, in row order."""

    kind: Kind
    name: str  # as a person would say it: ``decode step 31``, ``load 4``, ``wire write of room 7``
    stream: int  # of the `VectorClocks`
    epoch: int  # of its stream, from 1
    at_us: int
    step: int = 0  # the runner's number of the step; 0 for what is none
    lanes: tuple[int, ...] = ()
    room: int = 0


NONE = Operation("none", "nobody", 0, 0, 0)
ROOM = 1024  # operations, to begin with


class OperationLog:
    """Operations by number; 0 is nobody's.

    ``streams`` and ``epochs`` are those of all, int64, by number; behind the last one, room.
    Nothing is dropped, since an operation may be some row's last writer for good: the log grows by
    one a chunk, decode step, release, copy and post, and by one a page, pool and stage of a load.
    """

    def __init__(self) -> None:
        self._all: list[Operation] = []
        self.streams, self.epochs = np.zeros((2, ROOM), dtype=np.int64)
        self.add(NONE)

    def add(self, operation: Operation) -> int:
        """File an operation: its number."""
        number = len(self._all)
        if number == len(self.streams):
            self.streams, self.epochs = _twice(self.streams), _twice(self.epochs)
        self.streams[number], self.epochs[number] = operation.stream, operation.epoch
        self._all.append(operation)
        return number

    def moved(self, number: int, at_us: int) -> None:
        """The bytes of a copy moved now, some time after its issue."""
        self._all[number] = self._all[number]._replace(at_us=at_us)

    def __getitem__(self, number: int) -> Operation:
        return self._all[number]

    def __len__(self) -> int:
        return len(self._all)

    def said(self, number: int, lane: int = -1) -> str:
        """The operation as a clause, down to the lane where one is known (-1: none is)."""
        op = self._all[number]
        if lane < 0 or op.kind not in ("prefill", "decode"):
            return op.name
        if lane < len(op.lanes):
            return f"{op.name} row {lane} of request {op.lanes[lane]}"
        return f"padding lane {lane} of {op.name}"

    def request_of(self, number: int, lane: int = -1) -> int:
        """The request that a lane of an operation worked for; 0 for none, or none that is known."""
        lanes = self._all[number].lanes
        if 0 <= lane < len(lanes):
            return lanes[lane]
        return lanes[0] if len(lanes) == 1 else 0


def _twice(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same with as much room again."""
    return np.concatenate([values, np.zeros_like(values)])

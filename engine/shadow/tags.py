"""The tags of rows: for each row of each layer group, what it holds, who wrote it, and when.

One rule: tags follow bytes. They are kept by physical row, so that two slots which share bytes
share a tag, and a copy that moves half a page moves half of its tags. (The shadow memory of
Valgrind and of ThreadSanitizer, carried to KV rows.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.shadow.chains import DAMAGED, UNWRITTEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.shadow.digests import RowBytes


@dataclass(frozen=True)
class Shape:
    """One layer of one pool. ``entries`` rows a page, each of ``ratio`` tokens.

    ``stride`` is the distance of two pages in rows: less than ``entries`` where a build allocated
    too little, and rows of unlike pages share bytes.
    """

    pool: str
    layer: int
    pages: int  # page 0 included; request slots in the pool that requests address
    entries: int
    ratio: int
    stride: int = 0

    def rows(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Physical rows of slots (int64, any shape)."""
        if self.stride in (0, self.entries):
            return slots
        return slots // self.entries * self.stride + slots % self.entries

    def row(self, slot: int) -> int:
        """The physical row of one slot."""
        return int(self.rows(np.array(slot)))

    def slots_of(self, page: int) -> NDArray[np.int64]:
        """The slots of one page, int64 [entries]."""
        return np.arange(page * self.entries, (page + 1) * self.entries, dtype=np.int64)


class RowTags:
    """The tags of one layer group, each an array over its physical rows.

    ``chain`` int64 (`engine.shadow.chains`), ``op`` int64 number of the last writer, ``lane`` int64
    of it (-1: a copy has none), ``take`` int64 generation of the row's page when it was written;
    where ``bytes`` are looked at, ``digest`` int64 of what the writer left, and of a copy what its
    source's writer did; of a damaged row that of the write before.
    """

    def __init__(self, shape: Shape, bytes: RowBytes | None = None) -> None:
        rows = shape.pages * shape.entries
        self.shape, self.bytes = shape, bytes
        self.digest = np.zeros(rows, dtype=np.int64)
        self.chain = np.full(rows, UNWRITTEN, dtype=np.int64)
        self.op = np.zeros(rows, dtype=np.int64)
        self.lane = np.full(rows, -1, dtype=np.int64)
        self.take = np.zeros(rows, dtype=np.int64)

    def write(
        self,
        slots: NDArray[np.int64],
        chain: NDArray[np.int64] | int,
        op: NDArray[np.int64] | int,
        lane: NDArray[np.int64] | int,
        take: NDArray[np.int64] | int,
    ) -> None:
        """Slots int64 [n] were written by operation ``op``, or each by one of its own."""
        rows = self._mark(slots, chain, op, lane, take)
        if self.bytes is not None:
            self.digest[rows] = self.bytes.of(slots)

    def copy(
        self,
        slots: NDArray[np.int64],
        source: RowTags,
        at: NDArray[np.int64],
        op: NDArray[np.int64] | int,
        take: NDArray[np.int64] | int,
    ) -> None:
        """Slots got the bytes of another group's slots ``at``, one for one."""
        held = source.shape.rows(at)
        rows = self._mark(slots, source.chain[held], op, -1, take)
        self.digest[rows] = source.digest[held]

    def damage(
        self,
        slots: NDArray[np.int64],
        op: NDArray[np.int64] | int,
        take: NDArray[np.int64] | int,
    ) -> None:
        """Slots hold bytes of which no row is made."""
        self._mark(slots, DAMAGED, op, -1, take)

    def differ(self, slots: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
        """bool [n]: which slots do not hold what a reader means by them."""
        other: NDArray[np.bool_] = self.chain[self.shape.rows(slots)] != wanted
        return other

    def _mark(
        self,
        slots: NDArray[np.int64],
        chain: NDArray[np.int64] | int,
        op: NDArray[np.int64] | int,
        lane: NDArray[np.int64] | int,
        take: NDArray[np.int64] | int,
    ) -> NDArray[np.int64]:
        """Tag slots: their rows."""
        rows = self.shape.rows(slots)
        self.chain[rows], self.op[rows], self.lane[rows], self.take[rows] = chain, op, lane, take
        return rows

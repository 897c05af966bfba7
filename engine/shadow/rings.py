"""The states of unfinished groups, held against the tokens of the rows that complete them.

One rule: whatever is in a ring is its reader's only if it was written since the ring was given to
it: a page's rings since the page was taken, a request slot's since its last occupant's steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.shadow.readers import Reader, Rows
from engine.shadow.writing import RING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers
    from engine.shadow.tags import RowTags
    from engine.shadow.telling import Telling

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


class Rings:
    """Judges the states that the steps of one engine read."""

    def __init__(self, shadow: ShadowMemory, readers: Readers, telling: Telling) -> None:
        self._book, self._readers, self._telling = shadow.book, readers, telling
        groups = shadow.groups
        self._paged = (groups["c4_state", 0], groups["index_state", 0])
        self._blocks = groups["c128_state", 0]

    def rows(self, op: int, rows: Rows) -> None:
        """Compare the states of the groups, and of the blocks, that rows complete."""
        lane = np.nonzero(rows.position % C4_RATIO == C4_RATIO - 1)[0]
        if not len(lane):
            return
        part, page = _of(rows, lane), rows.loc[lane] // PAGE_TOKENS
        for group in self._paged:
            where, at = _last(part, page, RING, C4_RATIO)
            old = group.take[group.shape.rows(where)] != self._book.generation[page][:, None]
            self._tell(op, part, group, page, where, at, old)
        lane = np.nonzero(rows.position % C128_RATIO == C128_RATIO - 1)[0]
        if len(lane):
            part = _of(rows, lane)
            where, at = _last(part, part.slot, C128_RATIO, C128_RATIO)
            old = self._blocks.op[where] < self._readers.since[part.slot][:, None]
            self._tell(op, part, self._blocks, np.full_like(lane, -1), where, at, old)

    def _tell(
        self, op: int, rows: Rows, group: RowTags, page: Ints, where: Ints, at: Ints, old: Bools
    ) -> None:
        """Tell of ring rows [rows, span] that are ``old``, or another context's."""
        wrong = old | group.differ(where, self._readers.chain[rows.slot[:, None], at + 1])
        for i in np.nonzero(wrong.any(1))[0].tolist():
            reader = Reader.of(op, rows, i)
            its = np.full(where.shape[1], page[i])
            self._telling.tell(reader, [group], [wrong[i]], its, where[i], at[i])


def _of(rows: Rows, lane: Ints) -> Rows:
    """Some rows, which know their lane by ``loc``."""
    return Rows(rows.slot[lane], rows.position[lane], lane)


def _last(rows: Rows, base: Ints, ring: int, span: int) -> tuple[Ints, Ints]:
    """The last ``span`` tokens of rows in rings of ``ring``, number ``base`` each: slots and
    positions [rows, span].
    """
    at = rows.position[:, None] + np.arange(1 - span, 1)
    return base[:, None] * ring + at % ring, at

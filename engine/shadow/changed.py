"""Rows that are rightly tagged and wrongly filled: bytes that no known operation has changed.

One rule: the rows that a step reads are digested each time they are read, since nothing tells of
such a change; who reads a row is looked up only where a digest differs.

- ``read_changed_bytes``: a row is the reader's, by its tag, and its bytes are not those that its
  last writer left there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.shadow.readers import Reader
from engine.shadow.reading import AS_PROMPT, WINDOW
from engine.shadow.selected import Places
from engine.shadow.writing import RING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers, Rows
    from engine.shadow.tags import RowTags
    from engine.shadow.telling import Telling

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

NAME = "read_changed_bytes"


class Reads(NamedTuple):
    """What rows of a step read of one pool, int64 [rows, n] each: slots, the positions that they go
    by (below 0: nothing is read), and pages (-1: of none).
    """

    where: Ints
    at: Ints
    page: Ints


class Changed:
    """Holds what the steps of one engine read against the digests of its rows."""

    def __init__(self, shadow: ShadowMemory, readers: Readers, telling: Telling) -> None:
        self._book, self._readers, self._telling = shadow.book, readers, telling
        groups = shadow.groups
        self._window = [group for (pool, _), group in groups.items() if pool == "swa"]
        self._whole = [groups["index_k", 0], groups["c128", 0]]  # read entry by entry
        self._c4 = groups["c4", 0]
        self._places = Places(readers, self._c4.shape.pages)
        self._rings = [groups["c4_state", 0], groups["index_state", 0]]
        self._blocks = [groups["c128_state", 0]]

    def before(self, op: int, rows: Rows) -> None:
        """A chunk's tokens read the window that ends at a row, the last one before the chunk."""
        self._windows(op, rows, WINDOW - 1, AS_PROMPT)

    def rows(self, op: int, rows: Rows, chosen: NDArray[np.int32] | None, rings: bool) -> None:
        """Rows read their contexts; of c4 the slots ``chosen`` [rows, topk], -1: none.

        ``rings``: rows that complete an entry read their group's states.
        """
        self._windows(op, rows, WINDOW, len(self._window))
        used = np.arange(self._readers.pages.shape[1]) <= (rows.position // PAGE_TOKENS)[:, None]
        pages = np.unique(self._readers.pages[rows.slot][used])
        for group in self._whole:
            if len(bad := self._differing(group, self._filled(group, pages))):
                self._judge(op, rows, group, self._complete(rows, group), bad)
        if chosen is not None:
            self._selected(op, rows, chosen[: len(rows.slot)].astype(np.int64))
        if rings:
            self._states(op, rows, self._rings, rows.loc // PAGE_TOKENS, RING, C4_RATIO)
            self._states(op, rows, self._blocks, rows.slot, C128_RATIO, C128_RATIO)

    def _windows(self, op: int, rows: Rows, span: int, layers: int) -> None:
        at = rows.position[:, None] + np.arange(1 - span, 1)
        page = self._readers.pages[rows.slot[:, None], at.clip(0) // PAGE_TOKENS]
        reads = Reads(page * PAGE_TOKENS + at % PAGE_TOKENS, at, page)
        self._each(op, rows, self._window[:layers], reads)

    def _selected(self, op: int, rows: Rows, chosen: Ints) -> None:
        """Entries of c4, whose positions are looked up when one of them has changed."""
        entries = self._c4.shape.entries
        bad = self._differing(self._c4, np.unique(chosen[chosen >= 0]))
        if len(bad):
            page = chosen // entries
            index = self._places.of(rows, page)
            at = index * PAGE_TOKENS + (chosen % entries + 1) * C4_RATIO - 1
            # the others are none of the row's, which `engine.shadow.selected` tells of
            its = (chosen >= 0) & (index >= 0) & (at <= rows.position[:, None])
            reads = Reads(chosen, np.where(its, at, -1), page)
            self._judge(op, rows, self._c4, reads, bad)

    def _states(
        self, op: int, rows: Rows, groups: Sequence[RowTags], base: Ints, ring: int, span: int
    ) -> None:
        """The last ``span`` tokens of rows that complete so many, in rings number ``base`` each."""
        at = rows.position[:, None] + np.arange(1 - span, 1)
        at = np.where(rows.position[:, None] % span == span - 1, at, -1)
        page = np.broadcast_to(base[:, None], at.shape)
        paged = groups is self._rings
        reads = Reads(page * ring + at % ring, at, page if paged else np.full_like(at, -1))
        self._each(op, rows, groups, reads)

    def _each(self, op: int, rows: Rows, groups: Sequence[RowTags], reads: Reads) -> None:
        read = reads.where[reads.at >= 0]
        for group in groups:
            if len(bad := self._differing(group, read)):
                self._judge(op, rows, group, reads, bad)

    def _filled(self, group: RowTags, pages: Ints) -> Ints:
        """The slots of pages that were written since their pages were taken."""
        entries = group.shape.entries
        where = pages[:, None] * entries + np.arange(entries)
        own = group.take[group.shape.rows(where)] == self._book.generation[pages][:, None]
        slots: Ints = where[own]
        return slots

    def _complete(self, rows: Rows, group: RowTags) -> Reads:
        """Every entry of a context that is complete, for the rows of a step."""
        entries, ratio = group.shape.entries, group.shape.ratio
        page = np.repeat(self._readers.pages[rows.slot], entries, axis=1)
        number = np.arange(page.shape[1])
        at = (number + 1) * ratio - 1
        at = np.where(at <= rows.position[:, None], at, -1)
        return Reads(page * entries + number % entries, at, page)

    def _differing(self, group: RowTags, slots: Ints) -> Ints:
        """The slots whose bytes are not those that their rows' writers left."""
        if group.bytes is None or not len(slots):
            return slots[:0]
        other: Ints = slots[group.digest[group.shape.rows(slots)] != group.bytes.of(slots)]
        return other

    def _judge(self, op: int, rows: Rows, group: RowTags, reads: Reads, bad: Ints) -> None:
        """Tell of changed slots, once a reader and page; what is wrong by its tag is told of by
        `engine.shadow.reading`.
        """
        slot = rows.slot[:, None]
        wanted = self._readers.chain[slot, reads.at.clip(-1) + 1]
        wrong = np.isin(reads.where, bad) & (reads.at >= 0) & ~group.differ(reads.where, wanted)
        index = reads.at.clip(0) // PAGE_TOKENS
        wrong &= (reads.page < 0) | ~self._readers.lost(self._book, slot, index, reads.page)
        for lane in np.nonzero(wrong.any(1))[0].tolist():
            reader = Reader(op, lane, int(rows.slot[lane]), int(rows.position[lane]))
            hit = np.nonzero(wrong[lane])[0]
            for page in np.unique(reads.page[lane, hit]).tolist():
                its = hit[reads.page[lane, hit] == page]
                where, at = reads.where[lane, its], reads.at[lane, its]
                self._telling.say(NAME, reader, group, page, where, at)

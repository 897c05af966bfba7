"""What a step reads, held against what its requests mean: the first wrong row is told where it is
read. One rule: a page is compared when something has become of it (it changed hands, a copy or a
wrong lane wrote it: `PageBook.version`), and not again until then; states and selected entries are
looked at each time, but what a selected entry of the reader's own holds goes by its page.

- ``read_after_free``: nobody holds the page;
- ``read_stale_generation``: it was handed out anew since the reader was given it;
- ``read_uninitialised_row``: nobody has written the row since its page was handed out;
- ``read_during_load``: likewise, and a copy into the page is under way;
- ``read_torn_layers``: some layers of the row are the reader's, others are not;
- ``read_foreign_row``: the row holds another context, or nothing that a row is made of.

Of c4 only what a step selected is read (`engine.shadow.selected`); HiSparse reads its own copies
(`engine.shadow.hot`). The states are in `engine.shadow.rings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.config import PAGE_TOKENS
from engine.shadow.readers import Reader, Rows
from engine.shadow.reports import unordered
from engine.shadow.rings import Rings
from engine.shadow.selected import Selected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers
    from engine.shadow.tags import RowTags
    from engine.shadow.telling import Telling

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

WINDOW = 128  # tokens that a row sees of the window layers
AS_PROMPT = 3  # window layers that a chunk's inner tokens read


class Reading:
    """Judges what the steps of one engine read."""

    def __init__(self, shadow: ShadowMemory, readers: Readers, telling: Telling) -> None:
        self._shadow, self._book, self._readers = shadow, shadow.book, readers
        self._telling = telling
        groups = shadow.groups
        self._window = [group for (pool, _), group in groups.items() if pool == "swa"]
        self._c4, self._c128 = groups["c4", 0], groups["c128", 0]
        self._index = groups["index_k", 0]
        self._rings = Rings(shadow, readers, telling)
        self._selected = Selected(shadow, readers, telling)

    def forget(self, slot: int) -> None:
        """A request slot is given anew."""
        self._selected.forget(slot)

    def before(self, op: int, rows: Rows) -> None:
        """A chunk's tokens read the window that ends at a row, the last one before the chunk."""
        at = (rows.position[:, None] - np.arange(0, WINDOW - 1)).clip(0)
        pages = np.unique(self._readers.pages[rows.slot[:, None], at // PAGE_TOKENS])
        found, log = self._book.reads(op, pages), self._shadow.log
        # of a load they need the layers that they read: its getters are asked (`host_reads`)
        unordered(self._shadow, [each for each in found if log[each.earlier].kind != "load"])
        every = np.ones(len(rows.slot), dtype=bool)
        self._windows(op, rows, every, WINDOW - 1, AS_PROMPT)

    def rows(self, op: int, rows: Rows, chosen: NDArray[np.int32] | None, rings: bool) -> None:
        """Rows read their contexts; of c4 the slots ``chosen`` [rows, topk], -1: none.

        ``rings``: rows that complete an entry read their group's states.
        """
        slot, lanes, last = rows.slot, np.arange(len(rows.slot)), rows.position // PAGE_TOKENS
        pages, versions = self._readers.pages, self._book.version
        first = np.maximum(rows.position - WINDOW + 1, 0) // PAGE_TOKENS
        seen, now = self._readers.window, versions[pages[slot]]
        stale = now[lanes, first] != seen[slot, first]
        stale |= now[lanes, last] != seen[slot, last]
        if stale.any():
            self._windows(op, rows, stale, WINDOW, len(self._window))
        self._entries(op, rows)
        if rings:
            self._rings.rows(op, rows)
        if chosen is not None:
            self._selected.rows(op, rows, chosen)

    def _windows(self, op: int, rows: Rows, which: Bools, span: int, layers: int) -> None:
        """Compare the rows of some windows; found right by all layers, they are not asked again."""
        slot, position = rows.slot[which], rows.position[which]
        at = position[:, None] + np.arange(1 - span, 1)
        index = at.clip(0) // PAGE_TOKENS
        page = self._readers.pages[slot[:, None], index]
        where = page * PAGE_TOKENS + at % PAGE_TOKENS
        wanted = self._readers.chain[slot[:, None], at.clip(-1) + 1]
        groups = self._window[:layers]
        lost = self._readers.lost(self._book, slot[:, None], index, page)
        wrong = [(at >= 0) & (lost | self._differ(group, where, wanted, page)) for group in groups]
        if layers == len(self._window):
            self._readers.window[slot[:, None], index] = self._book.version[page]
        for i in np.nonzero(np.any(wrong, axis=(0, 2)))[0].tolist():
            lane = int(np.nonzero(which)[0][i])
            reader = Reader(op, lane, int(slot[i]), int(position[i]))
            self._telling.tell(
                reader, groups, [each[i] for each in wrong], page[i], where[i], at[i]
            )

    def _entries(self, op: int, rows: Rows) -> None:
        """Compare the complete entries of pages of which something has become."""
        slot, readers = rows.slot, self._readers
        used = np.arange(readers.pages.shape[1]) <= (rows.position // PAGE_TOKENS)[:, None]
        pages = readers.pages[slot]
        versions = self._book.version[pages]
        lane, index = np.nonzero(used & (versions != readers.entries[slot]))
        changed = pages[lane, index]
        self._book.read(op, pages[used])
        if not len(lane):
            return
        unordered(self._shadow, self._book.reads(op, np.unique(changed)))
        readers.entries[slot[lane], index] = versions[lane, index]
        part = Rows(slot[lane], rows.position[lane], lane)
        for group in (self._index, self._c128):
            wrong, where, at = self._compare(group, part, index)
            for i in np.nonzero(wrong.any(1))[0].tolist():
                page = np.full(where.shape[1], changed[i])
                self._telling.tell(
                    Reader.of(op, part, i), [group], [wrong[i]], page, where[i], at[i]
                )
        wrong, where, _ = self._compare(self._c4, part, index)
        self._selected.judged(part.slot, index, where, wrong)

    def _compare(self, group: RowTags, rows: Rows, index: Ints) -> tuple[Bools, Ints, Ints]:
        """Complete entries of pages number ``index``: which are wrong, their slots, and the
        positions that they go by; [pages, entries] each.
        """
        ratio, entries = group.shape.ratio, group.shape.entries
        end = index[:, None] * PAGE_TOKENS + ratio * np.arange(1, entries + 1)
        page = self._readers.pages[rows.slot, index][:, None]
        where = page * entries + np.arange(entries)
        wanted = self._readers.chain[rows.slot[:, None], end]
        lost = self._readers.lost(self._book, rows.slot[:, None], index[:, None], page)
        wrong = lost | self._differ(group, where, wanted, page)
        return wrong & (end <= rows.position[:, None] + 1), where, end - 1

    def _differ(self, group: RowTags, where: Ints, wanted: Ints, page: Ints) -> Bools:
        """Which rows hold something else, or were not written since their page was taken."""
        rows = group.shape.rows(where)
        other: Bools = (group.chain[rows] != wanted) | (
            group.take[rows] != self._book.generation[page]
        )
        return other

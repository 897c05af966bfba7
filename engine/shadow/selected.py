"""Of c4 only what a step selected is read. One rule: a selected slot is looked up in the page table
of its row, whatever the slot's own tags say; what lies on no page of it is none of the reader's.

- ``read_after_free``: the slot's page is none of the row's, and nobody holds it;
- ``read_foreign_row``: it is none of the row's, and somebody holds it;
- ``read_uninitialised_row``: the entry is not complete yet at the row's position.

An entry of its own that was found wrong is told of as any row is (`engine.shadow.reading`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.config import C4_RATIO, PAGE_TOKENS
from engine.shadow.ledger import ENTRIES
from engine.shadow.readers import Reader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers, Rows
    from engine.shadow.telling import Telling

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


class Places:
    """Where in its context a row has the pages of slots that it selected."""

    def __init__(self, readers: Readers, pages: int) -> None:
        self._readers = readers
        self._index = np.full((len(readers.pages), pages), -1, dtype=np.int32)

    def of(self, rows: Rows, page: Ints) -> Ints:
        """The number of each page [rows, k] in the table of its row; -1: it is not in it."""
        table = self._readers.pages[rows.slot]
        lane, index = np.nonzero(
            np.arange(table.shape[1]) <= (rows.position // PAGE_TOKENS)[:, None]
        )
        held = table[lane, index]
        self._index[lane, held] = index
        found = self._index[np.arange(len(page))[:, None], page].astype(np.int64)
        self._index[lane, held] = -1
        return found


class Selected:
    """Judges the c4 slots that the steps of one engine selected."""

    def __init__(self, shadow: ShadowMemory, readers: Readers, telling: Telling) -> None:
        self._book, self._c4, self._telling = shadow.book, shadow.groups["c4", 0], telling
        self._places = Places(readers, self._c4.shape.pages)
        self._bad: dict[int, dict[int, Ints]] = {}  # request slot -> page index -> bad slots

    def forget(self, slot: int) -> None:
        """A request slot is given anew."""
        self._bad.pop(slot, None)

    def judged(self, slot: Ints, index: Ints, where: Ints, wrong: Bools) -> None:
        """Of pages number ``index`` of the contexts of ``slot`` [n], the slots ``where`` were
        compared, and found ``wrong``; [n, entries] each.
        """
        bad = wrong.any(1)
        for i in np.nonzero(bad)[0].tolist():
            self._bad.setdefault(int(slot[i]), {})[int(index[i])] = where[i][wrong[i]]
        for i in np.nonzero(~bad)[0].tolist() if self._bad else ():
            self._bad.get(int(slot[i]), {}).pop(int(index[i]), None)

    def rows(self, op: int, rows: Rows, chosen: NDArray[np.int32]) -> None:
        """Rows selected the slots ``chosen`` [rows, k], -1: none."""
        slots = chosen[: len(rows.slot)].astype(np.int64)
        index = self._places.of(rows, slots // ENTRIES)
        end = index * PAGE_TOKENS + (slots % ENTRIES + 1) * C4_RATIO
        strange = (slots >= 0) & (index < 0)
        early = (slots >= 0) & (index >= 0) & (end > rows.position[:, None] + 1)
        if (wrong := strange | early).any():
            self._strangers(op, rows, slots, wrong, np.where(early, end - 1, -1))
        if self._bad:
            self._known(op, rows, slots)

    def _strangers(self, op: int, rows: Rows, slots: Ints, wrong: Bools, at: Ints) -> None:
        """Tell of slots that are none of their row's; ``at`` -1: not even by their page."""
        for lane in np.nonzero(wrong.any(1))[0].tolist():
            reader = Reader(op, lane, int(rows.slot[lane]), int(rows.position[lane]))
            read, where = slots[lane, wrong[lane]], at[lane, wrong[lane]]
            for page in np.unique(read // ENTRIES).tolist():
                its = read // ENTRIES == page
                lost = "read_foreign_row" if self._book.held[page] else "read_after_free"
                name = lost if where[its][0] < 0 else "read_uninitialised_row"
                self._telling.say(name, reader, self._c4, page, read[its], where[its])

    def _known(self, op: int, rows: Rows, slots: Ints) -> None:
        """Of entries that were found wrong, those that rows have selected now."""
        for lane, slot in enumerate(rows.slot.tolist()):
            for index, bad in list(self._bad.get(slot, {}).items()):
                read = bad[np.isin(bad, slots[lane])]
                if not len(read):
                    continue
                reader = Reader(op, lane, slot, int(rows.position[lane]))
                at = index * PAGE_TOKENS + (read % ENTRIES + 1) * C4_RATIO - 1
                wrong = np.ones(len(read), dtype=bool)
                self._telling.tell(reader, [self._c4], [wrong], read // ENTRIES, read, at)

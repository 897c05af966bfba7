"""What a step reads, held against what its requests mean: the first wrong row is told where it is
read. One rule: a page is compared when something has become of it, and not again until then.

- ``read_after_free``: nobody holds the page;
- ``read_stale_generation``: it was handed out anew since the reader was given it;
- ``read_uninitialised_row``: nobody has written the row since its page was handed out;
- ``read_during_load``: likewise, and a copy into the page is under way;
- ``read_torn_layers``: some layers of the row are the reader's, others are not;
- ``read_foreign_row``: the row holds another context, or nothing that a row is made of.

Of c4 only what a step selected is read; HiSparse reads its own copies (`engine.shadow.hot`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.shadow.chains import UNWRITTEN
from engine.shadow.ledger import ENTRIES
from engine.shadow.readers import STRANGE, Rows
from engine.shadow.reports import Writer, report, unordered
from engine.shadow.writing import RING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers
    from engine.shadow.tags import RowTags

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

WINDOW = 128  # tokens that a row sees of the window layers
AS_PROMPT = 3  # window layers that a chunk's inner tokens read


class Reader(NamedTuple):
    """One row of a step that reads: its operation and lane, request slot and position."""

    op: int
    lane: int
    slot: int
    position: int


class Reading:
    """Judges what the steps of one engine read."""

    def __init__(self, shadow: ShadowMemory, readers: Readers) -> None:
        self._shadow, self._book, self._readers = shadow, shadow.book, readers
        groups = shadow.groups
        self._window = [group for (pool, _), group in groups.items() if pool == "swa"]
        self._c4, self._c128 = groups["c4", 0], groups["c128", 0]
        self._index = groups["index_k", 0]
        self._rings = (groups["c4_state", 0], groups["index_state", 0])
        self._blocks = groups["c128_state", 0]
        self._bad: dict[int, dict[int, Ints]] = {}  # request slot -> page index -> bad c4 slots
        self._told: dict[tuple[int | str, ...], set[int]] = {}

    def forget(self, slot: int) -> None:
        """A request slot is given anew."""
        self._bad.pop(slot, None)

    def before(self, op: int, rows: Rows) -> None:
        """A chunk's tokens read the window that ends at a row, the last one before the chunk."""
        at = (rows.position[:, None] - np.arange(0, WINDOW - 1)).clip(0)
        pages = np.unique(self._readers.pages[rows.slot[:, None], at // PAGE_TOKENS])
        unordered(self._shadow, self._book.reads(op, pages))
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
            self._states(op, rows)
        if self._bad and chosen is not None:
            self._selected(op, rows, chosen)

    def _windows(self, op: int, rows: Rows, which: Bools, span: int, layers: int) -> None:
        """Compare the rows of some windows; found right by all layers, they are not asked again."""
        slot, position = rows.slot[which], rows.position[which]
        at = position[:, None] + np.arange(1 - span, 1)
        index = at.clip(0) // PAGE_TOKENS
        page = self._readers.pages[slot[:, None], index]
        where = page * PAGE_TOKENS + at % PAGE_TOKENS
        wanted = self._readers.chain[slot[:, None], at.clip(-1) + 1]
        groups = self._window[:layers]
        lost = self._lost(slot[:, None], index, page)
        wrong = [(at >= 0) & (lost | self._differ(group, where, wanted, page)) for group in groups]
        if layers == len(self._window):
            self._readers.window[slot[:, None], index] = self._book.version[page]
        for i in np.nonzero(np.any(wrong, axis=(0, 2)))[0].tolist():
            lane = int(np.nonzero(which)[0][i])
            reader = Reader(op, lane, int(slot[i]), int(position[i]))
            self._tell(reader, groups, [each[i] for each in wrong], page[i], where[i], at[i])

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
                self._tell(_reader(op, part, i), [group], [wrong[i]], page, where[i], at[i])
        wrong, where, _ = self._compare(self._c4, part, index)
        for i in np.nonzero(wrong.any(1))[0].tolist():
            self._bad.setdefault(int(part.slot[i]), {})[int(index[i])] = where[i][wrong[i]]
        for i in np.nonzero(~wrong.any(1))[0].tolist() if self._bad else ():
            self._bad.get(int(part.slot[i]), {}).pop(int(index[i]), None)

    def _compare(self, group: RowTags, rows: Rows, index: Ints) -> tuple[Bools, Ints, Ints]:
        """Complete entries of pages number ``index``: which are wrong, their slots, and the
        positions that they go by; [pages, entries] each.
        """
        ratio, entries = group.shape.ratio, group.shape.entries
        end = index[:, None] * PAGE_TOKENS + ratio * np.arange(1, entries + 1)
        page = self._readers.pages[rows.slot, index][:, None]
        where = page * entries + np.arange(entries)
        wanted = self._readers.chain[rows.slot[:, None], end]
        lost = self._lost(rows.slot[:, None], index[:, None], page)
        wrong = lost | self._differ(group, where, wanted, page)
        return wrong & (end <= rows.position[:, None] + 1), where, end - 1

    def _states(self, op: int, rows: Rows) -> None:
        """Compare the states of the groups, and of the blocks, that rows complete."""
        lane = np.nonzero(rows.position % C4_RATIO == C4_RATIO - 1)[0]
        if not len(lane):
            return
        part = Rows(rows.slot[lane], rows.position[lane], lane)
        page = rows.loc[lane] // PAGE_TOKENS
        for group in self._rings:
            self._ring(op, part, group, page, RING, C4_RATIO)
        lane = np.nonzero(rows.position % C128_RATIO == C128_RATIO - 1)[0]
        if len(lane):
            part = Rows(rows.slot[lane], rows.position[lane], lane)
            self._ring(op, part, self._blocks, part.slot, C128_RATIO, C128_RATIO)

    def _ring(self, op: int, rows: Rows, group: RowTags, base: Ints, ring: int, span: int) -> None:
        """Compare the last ``span`` tokens of rows in rings of ``ring``, number ``base`` each."""
        at = rows.position[:, None] + np.arange(1 - span, 1)
        where = base[:, None] * ring + at % ring
        wrong = group.differ(where, self._readers.chain[rows.slot[:, None], at + 1])
        for i in np.nonzero(wrong.any(1))[0].tolist():
            page = np.full(span, -1 if group is self._blocks else base[i])
            self._tell(_reader(op, rows, i), [group], [wrong[i]], page, where[i], at[i])

    def _selected(self, op: int, rows: Rows, chosen: NDArray[np.int32]) -> None:
        """Of c4 entries that were found wrong, those that rows have selected now."""
        for lane, slot in enumerate(rows.slot.tolist()):
            for index, bad in list(self._bad.get(slot, {}).items()):
                read = bad[np.isin(bad, chosen[lane])]
                if not len(read):
                    continue
                reader = Reader(op, lane, slot, int(rows.position[lane]))
                at = index * PAGE_TOKENS + (read % ENTRIES + 1) * C4_RATIO - 1
                wrong = np.ones(len(read), dtype=bool)
                self._tell(reader, [self._c4], [wrong], read // ENTRIES, read, at)

    def _lost(self, slot: Ints, index: Ints, page: Ints) -> Bools:
        """Which pages are free, or were handed out anew since their reader was given them."""
        anew = self._book.generation[page] != self._readers.takes[slot, index]
        lost: Bools = anew | ~self._book.held[page]
        return lost

    def _differ(self, group: RowTags, where: Ints, wanted: Ints, page: Ints) -> Bools:
        """Which rows hold something else, or were not written since their page was taken."""
        rows = group.shape.rows(where)
        other: Bools = (group.chain[rows] != wanted) | (
            group.take[rows] != self._book.generation[page]
        )
        return other

    def _tell(
        self,
        reader: Reader,
        groups: Sequence[RowTags],
        wrong: Sequence[Bools],
        page: Ints,
        where: Ints,
        at: Ints,
    ) -> None:
        """Tell of the wrong rows of one reader that it was not told of: by page and name.

        ``groups`` are layers of one pool, ``wrong`` [n] says which of the rows are so in each;
        pages, slots and positions int64 [n].
        """
        found: dict[tuple[str, int], list[int]] = {}
        for i in np.nonzero(np.any(wrong, axis=0))[0].tolist():
            bad = [layer for layer, each in enumerate(wrong) if each[i]]
            torn = len(bad) < len(groups)
            name = self._name(reader, groups[bad[0]], int(page[i]), int(where[i]), int(at[i]), torn)
            found.setdefault((name, int(page[i])), []).append(i)
        for (name, number), rows in found.items():
            layer = next(layer for layer, each in enumerate(wrong) if each[rows[0]])
            self.say(name, reader, groups[layer], number, where[rows], at[rows])

    def say(
        self, name: str, reader: Reader, group: RowTags, page: int, where: Ints, at: Ints
    ) -> None:
        """Tell of bad slots of a page, int64 [n], at positions: those it was not told of."""
        if new := self._untold(name, reader, group.shape.pool, page, where):
            place = int(where[new[0]]), int(at[new[0]])
            self._report(name, reader, group, page, place, len(new))

    def _untold(self, name: str, reader: Reader, pool: str, page: int, slots: Ints) -> list[int]:
        """Which of a page's bad ``slots`` the reader was not told of, since it was handed out."""
        take = int(self._book.generation[page]) if page >= 0 else 0
        request = int(self._readers.request[reader.slot])
        told = self._told.setdefault((name, request, reader.slot, pool, page, take), set())
        new = [i for i, slot in enumerate(slots.tolist()) if slot not in told]
        told.update(slots.tolist())
        return new

    def _name(
        self, reader: Reader, group: RowTags, page: int, where: int, at: int, torn: bool
    ) -> str:
        row = group.shape.row(where)
        book, written = self._book, group.chain[row] != UNWRITTEN
        if page >= 0:
            if not book.held[page]:
                return "read_after_free"
            given = self._readers.takes[reader.slot, at // PAGE_TOKENS]
            if given not in (STRANGE, book.generation[page]):
                return "read_stale_generation"
            own = group.take[row] == book.generation[page]
            shared = group.shape.stride and group.op[row] >= book.since[page]
            written = written and bool(own or shared)
        if not written:
            under = page >= 0 and book.copies_in[page] > 0
            return "read_during_load" if under else "read_uninitialised_row"
        return "read_torn_layers" if torn else "read_foreign_row"

    def _report(
        self,
        name: str,
        reader: Reader,
        group: RowTags,
        page: int,
        place: tuple[int, int],
        n: int,
    ) -> None:
        shadow, (where, at) = self._shadow, place
        row = group.shape.row(where)
        writer = Writer(int(group.op[row]), int(group.lane[row]))
        token = reader.position - int(self._readers.prompt[reader.slot]) + 1
        output: dict[str, Any] = {"output": token} if token >= 0 else {}
        report(
            shadow,
            name,
            page,
            n,
            writer,
            pool=group.shape.pool,
            layer=group.shape.layer,
            slot=where,
            position=at,
            reader=shadow.log.said(reader.op, reader.lane),
            request=int(self._readers.request[reader.slot]),
            step=shadow.log[reader.op].step,
            **output,
        )


def _reader(op: int, rows: Rows, at: int) -> Reader:
    """Row number ``at`` of those that know their lane by ``loc``."""
    return Reader(op, int(rows.loc[at]), int(rows.slot[at]), int(rows.position[at]))

"""What a step writes, as tags; and whether the pages that it writes are its own.

One rule: a row is tagged where its bytes went. Of index keys the store says where; whatever went
elsewhere than it should is damage, by the lane that wrote it. Of swa, c4 and c128 it is believed
that a store stored what it was given; at level full and on a CPU that is looked at
(`engine.shadow.stores`), and a row that was not stored keeps the tags that it had.

- ``write_by_non_owner``: a live row wrote a page that its request was not given, or has lost;
- ``two_writers_in_flight``: a live row wrote a page into which a copy is under way.

Both are told once of a page, until it is handed out anew, of a request, and of a copy.

Rows that must not write are told of by `engine.shadow.ledger`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.shadow.chains import DAMAGED
from engine.shadow.ledger import ENTRIES
from engine.shadow.reports import CLASH, Writer, apart, report, unordered

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers, Rows
    from engine.shadow.stores import LatentStores
    from engine.shadow.tags import RowTags

    Ints = NDArray[np.int64]

STRANGER = "write_by_non_owner"
RING = 8  # tokens of a page's rings


class Writing:
    """Tags what the steps of one engine write."""

    def __init__(
        self, shadow: ShadowMemory, readers: Readers, stores: LatentStores | None = None
    ) -> None:
        self._shadow, self._book, self._readers = shadow, shadow.book, readers
        self._stores = stores
        self._lost: dict[tuple[str, int], Ints] = {}  # slots that this step's calls did not store
        groups = shadow.groups
        self._window = [group for (pool, _), group in groups.items() if pool == "swa"]
        self._c4, self._c128 = groups["c4", 0], groups["c128", 0]
        self._index = groups["index_k", 0]
        self._rings = (groups["c4_state", 0], groups["index_state", 0])
        self._blocks = groups["c128_state", 0]

    def chunk(self, op: int, slot: int, start: int, loc: Ints, chain: Ints, written: Ints) -> None:
        """A chunk's tokens from position ``start`` on, at token slots ``loc``, were computed.

        ``chain`` is that after each; ``written`` the index-K slots, one a group.
        """
        self._lost = self._stores.taken() if self._stores else {}
        n = len(loc)
        position = np.arange(start, start + n, dtype=np.int64)
        take = self._book.generation[loc // PAGE_TOKENS]
        for group in self._window:
            self._latents(group, loc, chain, op, np.zeros_like(loc), take)
        ends = slice(C4_RATIO - 1, n, C4_RATIO)
        none = np.zeros_like(loc[ends])
        self._latents(self._c4, loc[ends] // C4_RATIO, chain[ends], op, none, take[ends])
        lanes = np.zeros(len(written), dtype=np.int64)
        self._keys(op, loc[ends] // C4_RATIO, chain[ends], written, lanes)
        ends = slice(C128_RATIO - 1, n, C128_RATIO)
        none = np.zeros_like(loc[ends])
        self._latents(self._c128, loc[ends] // C128_RATIO, chain[ends], op, none, take[ends])
        self._tail(op, slot, position, loc, chain)
        pages = loc[::PAGE_TOKENS] // PAGE_TOKENS
        self._book.touch(pages)
        indices = np.arange(start // PAGE_TOKENS, start // PAGE_TOKENS + len(pages))
        lane = np.zeros(len(pages), dtype=np.int64)
        self._judge(op, pages, np.full(len(pages), slot), indices, lane)

    def rows(self, op: int, rows: Rows, chain: Ints, written: Ints) -> None:
        """One token a row was computed; ``written`` int64 [lanes], padding behind the rows."""
        self._lost = self._stores.taken() if self._stores else {}
        position, loc, n = rows.position, rows.loc, len(rows.loc)
        lane, page = np.arange(n, dtype=np.int64), loc // PAGE_TOKENS
        take = self._book.generation[page]
        for group in self._window:
            self._latents(group, loc, chain, op, lane, take)
        ring = page * RING + position % RING
        for group in self._rings:
            group.write(ring, chain, op, lane, take)
        block = rows.slot * C128_RATIO + position % C128_RATIO
        self._blocks.write(block, chain, op, lane, 0)
        done = position % C4_RATIO == C4_RATIO - 1
        self._latents(self._c4, loc[done] // C4_RATIO, chain[done], op, lane[done], take[done])
        should = np.full(len(written), -1, dtype=np.int64)
        should[:n] = np.where(done, loc // C4_RATIO, -1)
        wanted = np.resize(chain, len(written))
        self._keys(op, should, wanted, written, np.arange(len(written), dtype=np.int64))
        done = position % C128_RATIO == C128_RATIO - 1
        if done.any():
            at = loc[done] // C128_RATIO
            self._latents(self._c128, at, chain[done], op, lane[done], take[done])
        self._judge(op, page, rows.slot, position // PAGE_TOKENS, lane)

    def _latents(
        self, group: RowTags, at: Ints, chain: Ints, op: int, lane: Ints, take: Ints
    ) -> None:
        """Rows of latents int64 [n] were stored, but for those that were not."""
        lost = self._lost.get((group.shape.pool, group.shape.layer))
        if lost is not None:
            self._book.touch(lost // group.shape.entries)
            kept = ~np.isin(at, lost)
            at, chain, lane, take = at[kept], chain[kept], lane[kept], take[kept]
        group.write(at, chain, op, lane, take)

    def _tail(self, op: int, slot: int, position: Ints, loc: Ints, chain: Ints) -> None:
        """The tokens of unfinished groups, which go to the rings."""
        at = slice(len(loc) // C4_RATIO * C4_RATIO, len(loc))
        page = loc[at] // PAGE_TOKENS
        for group in self._rings:
            ring = page * RING + position[at] % RING
            group.write(ring, chain[at], op, 0, self._book.generation[page])
        at = slice(len(loc) // C128_RATIO * C128_RATIO, len(loc))
        self._blocks.write(slot * C128_RATIO + position[at] % C128_RATIO, chain[at], op, 0, 0)

    def _keys(self, op: int, should: Ints, chain: Ints, written: Ints, lanes: Ints) -> None:
        """Index keys went to ``written`` where they ``should`` have gone to; -1: to none."""
        hit = written >= ENTRIES  # the reserved page is everybody's
        right = written == should
        at = written[hit]
        held = np.where(right, chain, DAMAGED)[hit]
        self._index.write(at, held, op, lanes[hit], self._book.generation[at // ENTRIES])
        if not right[hit].all() or not right[should >= 0].all():
            wrong = np.concatenate([written[hit & ~right], should[~right & (should >= 0)]])
            self._book.touch(wrong // ENTRIES)
            self._book.wrote[written[hit & ~right] // ENTRIES] = op
        if stride := self._index.shape.stride:
            self._touch_around(at // ENTRIES, (ENTRIES - 1) // stride)

    def _touch_around(self, pages: Ints, reach: int) -> None:
        """Rows of other pages share the bytes that were written."""
        near = pages[:, None] + np.arange(-reach, reach + 1)
        self._book.touch(near.clip(0, len(self._book.version) - 1).ravel())

    def _judge(self, op: int, pages: Ints, slot: Ints, index: Ints, lane: Ints) -> None:
        """Lanes wrote pages: are they their own, number ``index`` of request slots?"""
        book, mine = self._book, self._readers.pages[slot, index]
        strange = ~book.held[pages] | (book.generation[pages] != self._readers.takes[slot, index])
        if (elsewhere := pages != mine).any():
            book.touch(mine[elsewhere])  # where the rows are missed
            strange |= elsewhere
        clash = book.copies_in[pages] > 0
        for name, bad in ((STRANGER, strange), (CLASH, clash)):
            if bad.any():
                self._tell(name, op, pages[bad], slot[bad], lane[bad])
        unordered(self._shadow, book.writes(op, pages))

    def _tell(self, name: str, op: int, pages: Ints, slot: Ints, lane: Ints) -> None:
        """Tell of pages of which nobody was told."""
        book, request = self._book, self._readers.request[slot]
        book.touch(pages)
        others = book.copy_in[pages] if name == CLASH else np.zeros(len(pages), dtype=np.int64)
        seen = zip(pages.tolist(), request.tolist(), others.tolist(), strict=True)
        new = [at for at, each in enumerate(seen) if book.untold(name, *each)]
        if not new:
            return
        first, writer = new[0], Writer(op, int(lane[new[0]]))
        other = int(others[first])
        edge = {"edge": apart(self._shadow, op, other, writer.lane)} if other else {}
        more: Any = {"request": int(request[first]), **edge}
        report(self._shadow, name, int(pages[first]), len(new), writer, **more)

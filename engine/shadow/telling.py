"""How a reader is told of rows that are not its own: what each is called, and once only.

One rule: a name says what became of the page first, then whether the row was written, and only
then whose it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.config import PAGE_TOKENS
from engine.shadow.chains import UNWRITTEN
from engine.shadow.readers import STRANGE, Reader
from engine.shadow.reports import Writer, report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers
    from engine.shadow.tags import RowTags

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


class Telling:
    """Tells of bad rows of one engine, each reader once of each."""

    def __init__(self, shadow: ShadowMemory, readers: Readers) -> None:
        self._shadow, self._book, self._readers = shadow, shadow.book, readers
        self._told: dict[tuple[int | str, ...], set[int]] = {}

    def tell(
        self,
        reader: Reader,
        groups: Sequence[RowTags],
        wrong: Sequence[Bools],
        page: Ints,
        where: Ints,
        at: Ints,
    ) -> None:
        """Tell of the wrong rows of one reader that it was not told of: by page, name and the first
        layer that is wrong.

        ``groups`` are layers of one pool, ``wrong`` [n] says which of the rows are so in each;
        pages, slots and positions int64 [n].
        """
        found: dict[tuple[str, int, int], list[int]] = {}
        for i in np.nonzero(np.any(wrong, axis=0))[0].tolist():
            bad = [layer for layer, each in enumerate(wrong) if each[i]]
            torn = len(bad) < len(groups)
            name = self._name(reader, groups[bad[0]], int(page[i]), int(where[i]), int(at[i]), torn)
            found.setdefault((name, int(page[i]), bad[0]), []).append(i)
        for (name, number, layer), rows in found.items():
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
        elif group.op[row] < self._readers.since[reader.slot]:
            written = False
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
        more: dict[str, Any] = {"output": token} if token >= 0 else {}
        if at >= 0:
            more["position"] = at
        report(
            shadow,
            name,
            page,
            n,
            writer,
            pool=group.shape.pool,
            layer=group.shape.layer,
            slot=where,
            reader=shadow.log.said(reader.op, reader.lane),
            request=int(self._readers.request[reader.slot]),
            step=shadow.log[reader.op].step,
            **more,
        )

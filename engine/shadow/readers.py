"""Who reads and writes, as arrays by request slot: pages, generations, and chains of the tokens.

One rule: a slot's rows are those of its last admission; a request's page list is a new list at
each, so its identity tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.config import PAGE_TOKENS
from engine.shadow.chains import chain, links

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engine.request import Request
    from engine.shadow.book import PageBook


STRANGE = -1  # the generation of a page that its reader was never given


class Rows(NamedTuple):
    """Rows of a step, int64 [n] each: request slots, positions, and the slots of their tokens."""

    slot: NDArray[np.int64]
    position: NDArray[np.int64]
    loc: NDArray[np.int64]


class Reader(NamedTuple):
    """One row of a step that reads: its operation and lane, request slot and position."""

    op: int
    lane: int
    slot: int
    position: int

    @classmethod
    def of(cls, op: int, rows: Rows, at: int) -> Reader:
        """Row number ``at`` of those that know their lane by ``loc``."""
        return cls(op, int(rows.loc[at]), int(rows.slot[at]), int(rows.position[at]))


class Readers:
    """Request slots 0..``requests`` of contexts of up to ``context`` tokens.

    ``chain[slot, p]`` is the chain before token p. ``window`` and ``entries`` are the versions of
    pages (`PageBook.version`) of which a slot has found the rows right, -1: none yet. ``since`` is
    the first operation that may be of a slot's occupant: all steps of the one before came earlier.
    """

    def __init__(self, requests: int, context: int) -> None:
        shape = (requests + 1, context // PAGE_TOKENS)
        self.pages = np.zeros(shape, dtype=np.int64)
        self.takes = np.zeros(shape, dtype=np.int64)
        self._given = np.zeros((*shape, 2), dtype=np.int64)  # pages and takes as requests have them
        self.window = np.full(shape, -1, dtype=np.int64)
        self.entries = np.full(shape, -1, dtype=np.int64)
        self.chain = np.zeros((requests + 1, context + 1), dtype=np.int64)
        self.request = np.zeros(requests + 1, dtype=np.int64)
        self.prompt = np.zeros(requests + 1, dtype=np.int64)  # tokens
        self.since = np.zeros(requests + 1, dtype=np.int64)
        self._ran = np.zeros(requests + 1, dtype=np.int64)  # the last step of a slot
        nobody: list[int] = []
        self._held = [(nobody, 0)] * (requests + 1)  # page list, and how much of it is here

    def sync(self, req: Request) -> bool:
        """Take in the pages that a request gained; whether it was admitted since the last call."""
        slot, (pages, shown) = req.req_slot, self._held[req.req_slot]
        new = pages is not req.pages
        if not new and shown == len(pages):
            return False
        if new:
            shown = 0
            self.request[slot], self.prompt[slot] = req.id, len(req.prompt)
            self.window[slot] = self.entries[slot] = -1
            self.since[slot] = self._ran[slot] + 1
        self.pages[slot, shown : len(req.pages)] = req.pages[shown:]
        self.takes[slot, shown : len(req.pages)] = req.takes[shown:]
        self._given[slot, shown : len(req.pages), 0] = req.pages[shown:]
        self._given[slot, shown : len(req.pages), 1] = req.takes[shown:]
        self._held[slot] = (req.pages, len(req.pages))
        return new

    def shown(
        self, slot: NDArray[np.int64], table: NDArray[np.int32], last: NDArray[np.int64]
    ) -> None:
        """The page tables that a step had, [n, W], up to the page of a row's ``last`` position:
        they are what was read, whatever a request was given.
        """
        used = np.arange(table.shape[1]) <= last[:, None] // PAGE_TOKENS
        lane, index = np.nonzero(used & (table != self.pages[slot]))
        if len(lane):
            found, given = table[lane, index], self._given[slot[lane], index]
            self.pages[slot[lane], index] = found
            its = given[:, 1]
            self.takes[slot[lane], index] = np.where(found == given[:, 0], its, STRANGE)
            self.window[slot[lane], index] = self.entries[slot[lane], index] = -1

    def runs(self, op: int, slot: NDArray[np.int64]) -> None:
        """A step of request slots begins."""
        self._ran[slot] = op

    def lost(
        self,
        book: PageBook,
        slot: NDArray[np.int64],
        index: NDArray[np.int64],
        page: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Which pages are free, or were handed out anew since a slot was given them, as number
        ``index`` of its context.
        """
        anew = book.generation[page] != self.takes[slot, index]
        gone: NDArray[np.bool_] = anew | ~book.held[page]
        return gone

    def admitted(self, slot: int, tokens: Sequence[int]) -> None:
        """A slot's context begins with ``tokens``, which others have computed."""
        self.extend(slot, 0, np.array(tokens, dtype=np.int64))

    def extend(self, slot: int, start: int, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens follow the ``start`` before them: the chain after each, int64 [n]."""
        after = chain(tokens, start, int(self.chain[slot, start]))
        self.chain[slot, start + 1 : start + 1 + len(tokens)] = after
        return after

    def append(self, rows: Rows, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """One token a row: the chain after each, int64 [n]."""
        after = self.chain[rows.slot, rows.position] + links(tokens, rows.position)
        self.chain[rows.slot, rows.position + 1] = after
        return after

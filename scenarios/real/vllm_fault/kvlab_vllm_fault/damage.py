"""One block is damaged, and told. One rule: one line of the log for a damage, and one for each
request that holds, or is given, the damaged block.

Lines are JSON behind `kvlab-fault`; ``first`` and ``end`` are a half-open interval of positions of
the request, ``brings`` is the first position of the rows that it is given there: rows keep their
positions, so whoever looks for one of these finds them too.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from kvlab_vllm_fault.books import DECODE, PREFILL

if TYPE_CHECKING:
    from kvlab_vllm_fault.books import Books, Rows
    from kvlab_vllm_fault.contents import Content, Contents

MARK = "kvlab-fault"


class Damage:
    """Damages to the blocks of ``books``, numbered from 1; ``silent`` where others tell of them."""

    def __init__(self, books: Books, contents: Contents, silent: bool = False) -> None:
        self.count = self.step = 0
        self._books, self._contents, self._silent = books, contents, silent

    def swap(self, request: str, index: int, other: int) -> None:
        """A block of the request and another one exchange their contents."""
        block = self._books.requests[request].table[index]
        self._contents.swap(block, other)
        one, two = (self._books.rows[it].first for it in (block, other))
        self._spoil("swap", block, request, other=other, brings=two)
        self._spoil("swap", other, request, other=block, brings=one)

    def zero(self, request: str, index: int) -> None:
        """A block of the request is all zeros."""
        block = self._books.requests[request].table[index]
        self._contents.zero(block)
        self._spoil("zero", block, request)

    def stale(self, request: str, index: int, first: int, earlier: Content) -> None:
        """A block of the request holds what it held once: rows from position ``first`` on."""
        block = self._books.requests[request].table[index]
        self._contents.put(block, earlier)
        self._spoil("stale", block, request, brings=first)

    def double(self, request: str, index: int, other: int, table: list[int], at: int) -> None:
        """The request is given another's block: in its table, and ``at`` in the worker's."""
        held = self._books.requests[request]
        own, held.table[index], table[at] = held.table[index], other, other
        self.count += 1
        writes = (index + 1) * self._books.block_size > held.computed
        told = {"request": request, "block_id": own, "other": other}
        brings = {} if writes else {"brings": self._books.rows[other].first}
        self._say(damage=self.count, how="double", **told, **brings)
        for user, place in self._books.users(other) if writes else [(request, index)]:
            self._met(self.count, user, place)

    def meet(self, request: str, hit: int) -> None:
        """The first ``hit`` blocks of a request are given to it as they are, damaged or not."""
        for index, block in enumerate(self._books.requests[request].table[:hit]):
            if block in self._books.spoilt:
                self._met(self._books.spoilt[block], request, index)

    def _spoil(self, kind: str, block: int, request: str, **more: int) -> None:
        self.count += 1
        self._books.spoilt[block] = self.count
        rows = self._books.rows[block]
        told = {"request": request, "block_id": block, "wrote": rows.request, **more}
        self._say(damage=self.count, how=kind, **told, **_written(rows))
        for user, index in self._books.users(block):
            self._met(self.count, user, index)

    def _met(self, damage: int, request: str, index: int) -> None:
        size, held = self._books.block_size, self._books.requests[request]
        rows = self._books.rows.get(held.table[index])
        place = {"block": index, "first": index * size, "end": (index + 1) * size}
        told = {"request": request, **place, "computed": held.computed}
        self._say(met=damage, **told, **_written(rows))

    def _say(self, **fields: Any) -> None:
        if not self._silent:
            sys.stdout.write(f"{MARK} {json.dumps({**fields, 'step': self.step})}\n")
            sys.stdout.flush()


def _written(rows: Rows | None) -> dict[str, int]:
    """How many rows each kind of step wrote."""
    kinds = {"prefill": PREFILL, "decode": DECODE}
    return {name: rows.count(kind) if rows else 0 for name, kind in kinds.items()}

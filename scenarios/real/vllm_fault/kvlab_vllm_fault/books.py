"""Who holds which block, and which step wrote each of its rows. One rule: told, never looked up.

Rows are positions of a request, `block_size` of them a block, in the order of its table.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EMPTY, PREFILL, DECODE = 0, 1, 2


@dataclass
class Rows:
    """What a block should hold: rows of ``request`` from position ``first`` on, and for each slot
    which kind of step wrote it.
    """

    request: str
    first: int
    kinds: bytearray

    def count(self, kind: int) -> int:
        """How many rows such a step wrote."""
        return self.kinds.count(kind)


@dataclass
class Held:
    """A request: its prompt's length, its table, and how many of its rows are there."""

    prompt: int
    table: list[int]
    computed: int = 0
    decoding: bool = False


@dataclass
class Books:
    """All blocks of a pool, of ``block_size`` rows each."""

    block_size: int
    requests: dict[str, Held] = field(default_factory=dict)
    rows: dict[int, Rows] = field(default_factory=dict)
    spoilt: dict[int, int] = field(default_factory=dict)  # block -> the damage that it bears

    def admit(self, request: str, prompt: int, table: list[int], computed: int) -> None:
        """A request begins, or begins again, with ``computed`` rows that others wrote."""
        self.requests[request] = Held(prompt, list(table), computed)

    def grow(self, request: str, table: list[int]) -> None:
        """It is given more blocks."""
        self.requests[request].table += table

    def leave(self, request: str) -> None:
        """It has ended; what it wrote stays in the blocks."""
        self.requests.pop(request, None)

    def step(self, request: str, start: int, tokens: int, decoded: bool) -> None:
        """A step writes ``tokens`` rows of it, from position ``start`` on."""
        held, kind = self.requests[request], DECODE if decoded else PREFILL
        held.computed, held.decoding = start + tokens, decoded
        for at in range(start, start + tokens):
            index, slot = divmod(at, self.block_size)
            block = held.table[index]
            if slot == 0 or block not in self.rows:
                self.rows[block] = Rows(request, at - slot, bytearray(self.block_size))
                self.spoilt.pop(block, None)
            self.rows[block].kinds[slot] = kind

    def users(self, block: int) -> list[tuple[str, int]]:
        """The requests that have the block in their table, and where."""
        return [
            (name, held.table.index(block))
            for name, held in self.requests.items()
            if block in held.table
        ]

    def full(self, block: int) -> bool:
        """Whether every row of it was written."""
        return block in self.rows and not self.rows[block].count(EMPTY)

    def foreign(self, request: str) -> list[int]:
        """Full, unspoilt blocks that are not in the request's table, in the order of their ids."""
        own = set(self.requests[request].table)
        found = (it for it in self.rows if it not in own and it not in self.spoilt)
        return sorted(block for block in found if self.full(block))

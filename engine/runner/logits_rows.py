"""Where the indexer's logits lie: a flat buffer, of which each row of a step has its own part.

One rule: a row is written where the seam says, and read where its number says. Production lays each
row out as wide as the longest context needs (``max_seq_len`` / 4 entries), whatever its own length.
Here a row is as wide as the configuration says, and of it only what a context can fill is kept:
what is written outside every row's part is dropped (a device would fault, or lose other data).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch

from engine.config import C4_RATIO

if TYPE_CHECKING:
    from torch import Tensor

    from engine.config import EngineConfig

UNWRITTEN = 0.0  # what is read where nobody wrote: a fresh allocation


class LogitsOffset(Protocol):
    """Seam ``logits_offset``: where in the buffer of logits does a row begin?"""

    def of(self, row: int, width: int) -> int:
        """The entry at which row number ``row`` begins; rows are ``width`` entries wide."""
        ...


class InInt64:
    """Row times width in 64 bits, which no buffer exceeds."""

    def of(self, row: int, width: int) -> int:
        """The product itself."""
        return row * width


class LogitsRows:
    """The buffer of one engine, rows ``width`` entries wide.

    Where rows begin follows from their number alone, so a captured step may record it.
    """

    def __init__(self, ask: LogitsOffset, width: int) -> None:
        self.width = width
        self._ask = ask
        self._astray: dict[int, dict[int, int]] = {}  # number of rows -> what `astray` says

    @classmethod
    def of(cls, ask: LogitsOffset, config: EngineConfig) -> LogitsRows:
        """As an engine lays them out; width 0: as wide as the page table."""
        return cls(ask, config.logits_width or config.model.max_context // C4_RATIO)

    def belongs(self, row: int) -> int:
        """The entry at which a row is read."""
        return row * self.width

    def astray(self, rows: int) -> dict[int, int]:
        """The rows of so many that do not begin where they are read, and where they do."""
        if rows not in self._astray:
            starts = {row: self._ask.of(row, self.width) for row in range(rows)}
            self._astray[rows] = {r: at for r, at in starts.items() if at != self.belongs(r)}
        return self._astray[rows]

    def read(self, logits: Tensor, lens: Tensor) -> Tensor:
        """What each row finds in its part: float32 [rows, entries], -inf at and beyond ``lens``.

        These are ``logits`` themselves, and no copy, where every row begins where it is read.
        """
        astray = self.astray(len(logits))
        if not astray:
            return logits
        found = logits.clone()
        for row in astray:
            found[row].fill_(UNWRITTEN)
        for row, start in astray.items():
            self._land(found, logits[row], start)
        past = torch.arange(logits.shape[1], device=lens.device) >= lens[:, None]
        return found.masked_fill_(past, -torch.inf)

    def _land(self, found: Tensor, row: Tensor, start: int) -> None:
        """Write a row at ``start``: over parts of the one or two rows that are read there."""
        first, entries = start // self.width, len(row)
        for reader in range(max(0, first), min(len(found), first + 2)):
            ahead = self.belongs(reader) - start  # entries of the row before the reader's first
            low, high = max(0, -ahead), min(entries, entries - ahead)
            if low < high:
                found[reader, low:high] = row[low + ahead : high + ahead]

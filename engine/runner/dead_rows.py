"""Rows that must not write. A captured step runs every row of its captured size; the padded ones,
and the three of four decode rows that complete no c4 entry, still reach each store.

Production zeroes ``out_cache_loc`` before a padded replay, so that padding lands in the reserved
slot 0 (SGLang ``cuda_graph_runner``; sglang#24743 is the same tail left alone in the SWA pool).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine.config import C4_RATIO

if TYPE_CHECKING:
    from torch import Tensor


class DeadRows(Protocol):
    """Seam ``dead_rows``: which slot does a row carry that must not write?

    Only a captured step asks: its shapes are static, so it cannot drop the rows that an eager
    step leaves out.
    """

    def settle(self, out_cache_loc: Tensor, real: int, completes: Tensor) -> Tensor:
        """Settle ``out_cache_loc`` int64 [bs] in place, and answer ``c4_out_loc`` int64 [bs].

        Rows [0, real) are real, and ``completes`` bool [real] says which of them finish an entry;
        rows [real, bs) are padding, and still hold what the last replay left there.
        """
        ...


class ToReservedSlot:
    """Every dead row carries slot 0, which nobody owns."""

    def settle(self, out_cache_loc: Tensor, real: int, completes: Tensor) -> Tensor:
        """Point all padding, and the rows that complete nothing, at slot 0."""
        out_cache_loc[real:] = 0
        return self.entries(out_cache_loc, real, completes)

    def entries(self, out_cache_loc: Tensor, real: int, completes: Tensor) -> Tensor:
        """The c4 slot of each row: of a real one only if it completes an entry."""
        loc = out_cache_loc // C4_RATIO
        loc[:real].masked_fill_(~completes, 0)
        return loc

"""Dead rows carry -1, and an unguarded indexed write takes -1 as the last row of the pool.

Origin   vllm-project/vllm#43810 and #43869; SGLang's c4_out_loc carried -1 in one version.
Trigger  bf16 index-K, a captured step, a pool so full that its last page is owned. No batching is
         needed: three of four steps of a single row complete no entry, and carry -1.
Symptom  whoever owns the last page loses its last index key, again and again.
Fix      engine.runner.dead_rows.ToReservedSlot, or a store that skips negative slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects._plain_scatter import PlainScatterForBf16
from engine.defects.registry import defect
from engine.runner.dead_rows import ToReservedSlot

if TYPE_CHECKING:
    from torch import Tensor


@defect(
    seam="dead_rows",
    index_k_store=PlainScatterForBf16,
    origin="vllm-project/vllm#43810",
    kind="corrupting",
    evidence=["padded_row_wrote_owned_slot"],
)
class DeadRowsCarryMinusOne(ToReservedSlot):
    """Uses -1 as the mark of a dead row."""

    def settle(self, out_cache_loc: Tensor, real: int, completes: Tensor) -> Tensor:
        """Give every dead row the slot -1."""
        loc = super().settle(out_cache_loc, real, completes)
        return loc.masked_fill_(loc == 0, -1)

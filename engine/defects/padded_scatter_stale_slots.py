"""The padding of a captured decode keeps the slots of the last replay, and bf16 writes them.

Origin   seed investigation (SGLang fork with a bf16 index-K); the same tail in the SWA pool is
         sgl-project/sglang#24743.
Trigger  bf16 index-K, a captured step, a batch smaller than its captured size.
Symptom  another request's index keys are overwritten: coherent text, then tag salad, leaked markup.
Fix      engine.runner.dead_rows.ToReservedSlot, or a guard in the store.
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
    origin="sgl-project/sglang#24743",
    kind="corrupting",
    evidence=["padded_row_wrote_owned_slot"],
)
class KeepsLastReplaysTail(ToReservedSlot):
    """Does not zero the tail: padding writes where its row wrote when it was last live."""

    def settle(self, out_cache_loc: Tensor, real: int, completes: Tensor) -> Tensor:
        """Leave the tail as the last, larger replay left it."""
        return self.entries(out_cache_loc, real, completes)

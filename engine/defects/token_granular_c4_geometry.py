"""The token-granular copy takes every pool for c4: 64 tokens a page of 37,440 bytes.

Origin   SGLang's ``transfer_cache_dsv4_mla`` (``kvcacheio.cuh``), by the seed investigation.
Trigger  a count of tokens that does not divide by the slot page, in another pool than c4. Dormant:
         radix HiCache counts whole pages, HiSparse copies c4. Woken by partial_page_transfers.
Symptom  index-K, c128 and swa come back as rows of other tokens, and neighbours are overwritten.
Fix      engine.pools.token_transfer.ByLayout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.pools.token_transfer import ByLayout
from kernels.defects.token_copy_c4_geometry import token_copy_c4_geometry

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.layout import LayerView


@defect(
    seam="token_transfer",
    origin="SGLang, transfer_cache_dsv4_mla",
    kind="dormant",
    evidence=["restored_page_differs"],
)
class AsIfC4(ByLayout):
    """Reads and writes where a c4 token would be."""

    def copy(
        self, dst: LayerView, src: LayerView, dst_slots: Tensor, src_slots: Tensor,
        live: Tensor | None = None,
    ) -> None:  # fmt: skip
        """Copy the tokens, by constants that are right for one pool."""
        token_copy_c4_geometry(dst, src, dst_slots, src_slots, live)

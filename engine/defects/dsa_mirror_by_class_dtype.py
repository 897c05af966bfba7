"""The host strategy of the older model family sizes index keys by its class's dtype, uint8.

Origin   SGLang's DSA host pool (``dsa_indexer_bytes_per_token_per_layer``): still so upstream, and
         harmless there, because no index of that family is bf16.
Trigger  host_strategy=dsa, bf16 index-K, a prefix evicted and restored. No other strategy asks.
Symptom  as host_mirror_sized_as_fp8.
Fix      engine.pools.host_layout.LikeDevice: the dtype of the pool, not of the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.pools import layouts
from engine.pools.host_layout import LikeDevice

if TYPE_CHECKING:
    from kernels.layout import PageLayout


@defect(
    seam="host_layout",
    origin="SGLang, DSA host pool",
    kind="latent",
    evidence=["restored_page_differs"],
)
class ByClassDtype(LikeDevice):
    """Takes the dtype from the class, which says uint8 with a float32 scale."""

    def by_dtype(self, device: PageLayout) -> PageLayout:
        """Index keys as fp8, whatever this pool stores."""
        return layouts.index_k("fp8", device.layers)

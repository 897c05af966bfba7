"""The host mirror of index-K is sized by the fp8 formula whatever the device stores.

Origin   seed investigation (SGLang fork with a bf16 index-K): 128 + 128/128*4 = 132 B a token of
         class dtype uint8, where the device stores 256 B.
Trigger  bf16 index-K, hicache, a prefix evicted and restored, contexts above 4 x topk tokens.
Symptom  a page copy moves 8,448 of 16,384 B: entries 33..63 of every restored page are whatever
         the device page held before. Wrong selections: coherent text, then tag salad.
Fix      engine.pools.host_layout.LikeDevice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.pools import layouts
from engine.pools.host_layout import LikeDevice

if TYPE_CHECKING:
    from kernels.layout import Order, PageLayout


@defect(
    seam="host_layout",
    origin="seed investigation",
    kind="corrupting",
    evidence=["restored_page_differs"],
)
class SizedAsFp8(LikeDevice):
    """Computes a row of index keys instead of asking the device for it."""

    def of(self, name: str, device: PageLayout, order: Order, strategy: str) -> PageLayout:
        """Index-K as fp8; every other pool like the device."""
        if name == "index_k":
            return replace(layouts.index_k("fp8", device.layers), order=order)
        return super().of(name, device, order, strategy)

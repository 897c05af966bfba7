"""The device index-K buffer is sized by the fp8 formula whatever its dtype.

Origin   seed investigation: suspected there, and cleared; offered here as the decoy that fails in
         eager mode too.
Trigger  bf16 index-K, graph on or off alike; rows past half of a page.
Symptom  the upper rows of a page share bytes with the lower rows of the next: wrong selections.
Fix      engine.pools.device.SizedByLayout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.defects.registry import defect
from engine.pools.device import Pool, SizedByLayout
from engine.pools.layouts import index_k
from kernels.layout import LayerView

if TYPE_CHECKING:
    from kernels.layout import PageLayout


@defect(
    seam="index_k_buffer",
    origin="seed investigation, hypothesis cleared by eager mode",
    kind="corrupting",
    evidence=["row_shared_by_two_slots"],
)
class SizedAsFp8(SizedByLayout):
    """Takes the fp8 page size for the distance between pages."""

    def allocate(self, name: str, layout: PageLayout, rows: int, device: str) -> Pool:
        """Pages start ``fp8 page bytes`` apart: a bf16 page runs into the next one."""
        step = index_k("fp8", layout.layers).page_bytes
        last = max(layout.page_bytes - step, 0)  # the last page has no neighbour to run into
        buffer = torch.zeros(layout.layers, rows * step + last, dtype=torch.uint8, device=device)
        pages = [layer.as_strided((rows, layout.page_bytes), (step, 1)) for layer in buffer]
        return Pool(name, layout, buffer, tuple(LayerView(layout, page) for page in pages))

"""The sender's item length is used on both sides: nobody compares what the two pools look like.

Origin   SGLang source: NIXL registers the peer's base addresses, page size and KV cache dtype, and
         computes both addresses of a write from the prefill's own item lengths.
Trigger  pd, index-K fp8 on the prefill and bf16 on the decode side. The other way round pages land
         past the end of the smaller pool, which a wire refuses.
Symptom  fp8 pages lie 8,448 bytes apart in a pool whose pages are 16,384: every page of index keys
         lands in another's, in bytes of another format. Wrong selections, no error.
Fix      engine.disagg.questions.ComparesLayouts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.disagg.questions import ComparesLayouts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernels.layout import PageLayout


@defect(
    seam="peer_layout",
    origin="SGLang source",
    kind="corrupting",
    evidence=["room_bytes_differ"],
)
class TrustsItsOwn(ComparesLayouts):
    """Takes the peer's items to be as long as its own."""

    def item_lens(
        self, own: Sequence[tuple[str, PageLayout]], peer: Sequence[tuple[str, PageLayout]]
    ) -> list[int]:
        """Bytes an item of the prefill's pools."""
        return [layout.page_bytes for _, layout in own]

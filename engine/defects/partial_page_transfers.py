"""Transfers cut pages: all tokens of each page but its last first, the last ones after them.

Origin   the precondition that token_granular_c4_geometry lacks under radix HiCache, whose anchor
         counts whole pages; here it is made, to force that path.
Trigger  layer_first (elsewhere there are no data pointers to copy tokens by), a count of tokens
         that does not divide by the slot page.
Symptom  none by itself: copies go by tokens, and a sound token copy brings every byte.
Fix      engine.pools.transfer_pieces.WholePages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import PAGE_TOKENS
from engine.defects.registry import defect
from engine.pools.transfer_pieces import WholePages

if TYPE_CHECKING:
    from engine.pools.transfer_pieces import Cuttable, Span

CUT = PAGE_TOKENS - 1  # odd: pieces of fewer pages than a slot page has tokens never fill it


@defect(seam="transfer_pieces", origin="seed investigation", kind="amplifier")
class CutPages(WholePages):
    """Moves a page in two pieces where tokens can be addressed."""

    def pieces(self, pool: Cuttable) -> list[Span]:
        """Tokens [0, 255) and [255, 256) of each page."""
        if pool.data_ptrs is None:
            return super().pieces(pool)
        return [(0, CUT), (CUT, PAGE_TOKENS)]

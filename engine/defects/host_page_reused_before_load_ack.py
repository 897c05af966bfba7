"""Host pages are given to another prefix while a load out of them is still in flight.

Origin   sgl-project/sglang#31427 (the host anchor could be released before the load-back had
         finished) and #34519.
Trigger  HiCache with a small host pool: a prefix is being restored while others are copied down.
Symptom  the rest of the restored pages is another prefix's KV: wrong tokens, no error.
Fix      engine.cache.questions.AfterLoadAck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.questions import AfterLoadAck
from engine.defects.registry import defect

if TYPE_CHECKING:
    from engine.cache.prefix import Node


@defect(
    seam="host_reuse",
    origin="sgl-project/sglang#31427",
    kind="corrupting",
    evidence=["host_page_changed_under_load"],
)
class OnceOnTheDevice(AfterLoadAck):
    """A node that was given its device pages is taken for one that needs its host pages no more."""

    def reusable(self, node: Node) -> bool:
        """As soon as the load has pages to go to."""
        return bool(node.pages) or super().reusable(node)

"""A prefix counts as backed up although the host had no room for it.

Origin   sgl-project/sglang#27108.
Trigger  HiCache with write_back and a full host pool: eviction frees the device pages whatever
         became of the copy.
Symptom  a later hit restores pages that were never written: another prefix's KV, or none.
Fix      engine.cache.questions.DropsThePage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.questions import DropsThePage
from engine.cache.tiers import HostPage
from engine.defects.registry import defect

if TYPE_CHECKING:
    from engine.cache.prefix import Node

RESERVED = HostPage(anchor=0, swa=0)


@defect(
    seam="backup_refusal",
    origin="sgl-project/sglang#27108",
    kind="corrupting",
    evidence=["host_hit_on_unwritten_page"],
)
class EvictedAnyway(DropsThePage):
    """Does not look at what became of the write."""

    def host(self, node: Node) -> list[HostPage] | None:
        """The index that a failed allocation leaves behind."""
        return [RESERVED] * len(node.pages)

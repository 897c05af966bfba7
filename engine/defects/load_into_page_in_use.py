"""A prefix is restored into the pages that it had before, though they are somebody else's now.

Origin   vllm-project/vllm#47282.
Trigger  HiCache, and pages that were recycled between the eviction and the restore of a prefix.
Symptom  a running request decodes over another prefix's KV.
Fix      engine.cache.questions.FreshPages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.questions import FreshPages, Room
from engine.defects.registry import defect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.cache.prefix import Node


@defect(
    seam="load_target",
    origin="vllm-project/vllm#47282",
    kind="corrupting",
    evidence=["load_wrote_page_in_use"],
)
class IntoItsFormerPages(FreshPages):
    """Takes a page over from the request that holds it; the others are taken properly."""

    def pages(self, nodes: Sequence[Node], room: Room) -> list[int]:
        """Former pages where a request holds them, new ones in the other places."""
        former = [page for node in nodes for page in node.former]
        in_use = [room.allocator.holds(page) and room.owner_of(page) is None for page in former]
        taken = {page: at for at, page in enumerate(former) if in_use[at]}
        for page in taken:
            room.allocator.generations[page] += 1
        fresh = iter(room.take(len(former) - len(taken)))
        places = {at: page for page, at in taken.items()}
        return [places[at] if at in places else next(fresh) for at in range(len(former))]

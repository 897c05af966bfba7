"""A matched prefix is pinned after room was made for the pages beside it.

Origin   vllm-project/vllm#37076: blocks found by the lookup could be evicted before being touched.
Trigger  a full pool, and a matched prefix that nobody else uses, nor a load from the host locks.
Symptom  the request reads pages that are its own new ones, or another's: wrong text from the start.
Fix      engine.sched.questions.PinnedFirst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.prefix import upward
from engine.defects.registry import defect
from engine.sched.questions import PinnedFirst

if TYPE_CHECKING:
    from engine.cache.prefix import Match, PrefixCache
    from engine.sched.questions import Fill


@defect(
    seam="prefix_pin",
    origin="vllm-project/vllm#37076",
    kind="corrupting",
    evidence=["page_changed_between_match_and_read"],
)
class PinnedLast(PinnedFirst):
    """Makes room first, and pins what is left of the match."""

    def hold(self, cache: PrefixCache, match: Match, fill: Fill) -> tuple[Match, list[int]] | None:
        """Fill, with the matched pages there for the taking; then pin the deepest that is left."""
        if match.host_pages:
            return super().hold(cache, match, fill)
        path, got = list(upward(match.node)), fill(match)
        if got is None:
            return None
        node = next(each for each in path if each.pages or each is path[-1])
        cache.pin(node)
        return got[0]._replace(node=node), got[1]

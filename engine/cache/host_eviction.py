"""Who gives way on the host. One rule: what is being written, read or used there stays.

Two kinds of host pages can go: those of evicted leaves, which are then forgotten, and the copies
of nodes that are on the device too, which can be made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.lru import LeafQueue

if TYPE_CHECKING:
    from engine.cache.prefix import Node
    from engine.cache.questions import HostReuse
    from engine.cache.tiers import HostPage, HostTier
    from engine.cache.write_policy import WritePolicy
    from engine.events import EventLog


class HostShelf:
    """The host pages of a tree's nodes. ``offer`` hears of nodes that may have become evictable."""

    def __init__(
        self,
        page_tokens: int,
        tier: HostTier,
        reuse: HostReuse,
        policy: WritePolicy,
        events: EventLog,
    ) -> None:
        self._page, self._tier, self._reuse = page_tokens, tier, reuse
        self._policy, self._events = policy, events
        self._leaves = LeafQueue(self.may_forget)
        self._copies = LeafQueue(self.may_reclaim)

    def may_forget(self, node: Node) -> bool:
        """Whether the node is an evicted leaf that nobody is about to restore."""
        bare = node.evicted and not node.children and node.parent is not None
        return bare and not node.pins and self._reuse.reusable(node)

    def may_reclaim(self, node: Node) -> bool:
        """Whether the node's host pages are a second copy that nobody reads or writes."""
        if not (node.host and node.pages) or node.writing or node.parent is None:
            return False
        if self._policy.closed and any(child.host for child in node.children.values()):
            return False
        return self._reuse.reusable(node)

    def offer(self, node: Node) -> None:
        """Queue the node if its host pages may go now."""
        self._leaves.offer(node)
        self._copies.offer(node)

    def allocate(self, pages: int, before: int) -> list[HostPage] | None:
        """Take host pages, by eviction if need be; None where there is no room.

        Nodes whose last use was at tick ``before`` or later stay: what is written now must not
        push out what it continues.
        """
        if pages > self._tier.pages:
            return None
        self.evict(pages - self._tier.available, before)
        return self._tier.allocate(pages)

    def evict(self, pages: int, before: int) -> None:
        """Free host pages until ``pages`` more are available, or nothing more may go.

        A copy made on eviction is given up first: its node will be copied again. One made on use
        would not be, before its next use, so there the oldest evicted leaf goes first.
        """
        target = self._tier.available + pages
        steps = [self._reclaim, self._forget]
        for step in steps if self._policy.on_eviction else reversed(steps):
            while (short := target - self._tier.available) > 0 and step(short, before):
                pass

    def release(self, node: Node) -> int:
        """Give back whatever the node has on the host; returns how many pages."""
        given, node.host = node.host, []
        self._tier.free(given)
        return len(given)

    def _reclaim(self, short: int, before: int) -> bool:
        node = self._copies.pop(before)
        if node is None:
            return False
        self._events.count("host_copies_reclaimed", self.release(node))
        if node.parent is not None:
            self.offer(node.parent)
        return True

    def _forget(self, short: int, before: int) -> bool:
        """Drop the last pages of the oldest evicted leaf; the leaf itself when none is left."""
        node = self._leaves.pop(before)
        if node is None or node.parent is None:
            return False
        keep = max(0, len(node.host) - short)
        gone, parent = node.host[keep:], node.parent
        self._tier.free(gone)
        self._events.count("host_evicted_pages", len(gone))
        if not keep:
            del parent.children[node.tokens[: self._page]]
            node.parent = None
        node.tokens = node.tokens[: keep * self._page]
        del node.host[keep:], node.former[keep:]
        self.offer(node)
        self.offer(parent)
        return True

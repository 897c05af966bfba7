"""Which leaf is evicted next. One rule: use is counted in ticks, never read from a clock."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.cache.prefix import Node


class LeafQueue:
    """Leaves that nobody pins, the one unused for longest first.

    A heap with at most one entry a node. An entry may be older than its node: the node was used,
    pinned or given children since. That is found out when the entry comes up, so use costs nothing.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Node]] = []

    def offer(self, node: Node) -> None:
        """Queue the node if it can be evicted now: a leaf, not pinned, not the root."""
        if evictable(node) and not node.queued:
            node.queued = True
            heappush(self._heap, (node.stamp, node.id, node))

    def pop(self) -> Node | None:
        """The next leaf to evict, out of the queue; None where no leaf can be."""
        while self._heap:
            stamp, _, node = heappop(self._heap)
            node.queued = False
            if evictable(node) and node.stamp == stamp:
                return node
            self.offer(node)
        return None


def evictable(node: Node) -> bool:
    """Whether the node is a leaf that nobody pins."""
    return not node.children and not node.pins and node.parent is not None

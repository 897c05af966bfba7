"""Which node gives way next. One rule: use is counted in ticks, never read from a clock."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.cache.prefix import Node


class LeafQueue:
    """Nodes that ``may_go``, the one unused for longest first.

    A heap with at most one entry a node. An entry may be older than its node: the node was used,
    pinned or given children since. That is found out when the entry comes up, so use costs nothing.
    """

    def __init__(self, may_go: Callable[[Node], bool]) -> None:
        self._may_go = may_go
        self._heap: list[tuple[int, int, Node]] = []
        self._queued: set[int] = set()  # ids of the nodes that have their entry

    def offer(self, node: Node) -> None:
        """Queue the node if it may go now."""
        if node.id not in self._queued and self._may_go(node):
            self._queued.add(node.id)
            heappush(self._heap, (node.stamp, node.id, node))

    def pop(self, before: int | None = None) -> Node | None:
        """The next node to go, out of the queue; None where none may.

        With ``before``, nodes whose last use was at that tick or later stay.
        """
        while self._heap and (before is None or self._heap[0][0] < before):
            stamp, _, node = heappop(self._heap)
            self._queued.discard(node.id)
            if self._may_go(node) and node.stamp == stamp:
                return node
            self.offer(node)
        return None


def is_free_leaf(node: Node) -> bool:
    """Whether the node is a leaf that nobody pins, and not the root."""
    return not node.children and not node.pins and node.parent is not None

"""The prefix cache over two tiers: device pages above, copies of them on the host below.

One rule: on either tier, what is kept of a prefix is a prefix. Along a path the nodes on the
device come first; those after them are evicted, and the host has them whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.host_eviction import HostShelf
from engine.cache.lru import LeafQueue
from engine.cache.prefix import Inserted, Match, Node, upward
from engine.cache.questions import Room
from engine.cache.radix import RadixCache
from engine.cache.tier_check import check_tiers
from engine.cache.write_policy import Name, WritePolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.cache.hicache import CacheOperation, HiCacheController
    from engine.cache.questions import CacheQuestions
    from engine.cache.tiers import HostTier
    from engine.events import EventLog
    from engine.pools.allocator import PageAllocator


class HiRadixCache(RadixCache):
    """Prefixes by whole pages on the device and on ``tier``, copied by ``controller``.

    A copy on its way pins its node: neither its device pages nor its host pages change hands
    before ``poll`` has seen it arrive.
    """

    def __init__(
        self,
        page_tokens: int,
        allocator: PageAllocator,
        controller: HiCacheController,
        tier: HostTier,
        ask: CacheQuestions,
        policy: Name,
        events: EventLog,
    ) -> None:
        super().__init__(page_tokens, allocator)
        self._controller, self._tier, self._ask, self._events = controller, tier, ask, events
        self._policy = WritePolicy.of(policy)
        self._leaves = LeafQueue(_is_device_leaf)
        self._host = HostShelf(page_tokens, tier, ask.host_reuse, self._policy, events)

    def match(self, tokens: Sequence[int]) -> Match:
        """The longest prefix on the device, and how many more pages of it the host has."""
        whole = (len(tokens) - 1) // self._page * self._page
        deepest, at = self._descend(tuple(tokens[:whole]))
        self._use(deepest)
        pages, node = self._path_pages(deepest), _on_device(deepest)
        if node is deepest:
            return Match(pages, node)
        return Match(pages, node, deepest, at // self._page - len(pages))

    def used(self, node: Node) -> None:
        """A request was admitted over the prefix that ends at ``node``."""
        for each in upward(node):
            each.hits += 1

    def insert(self, tokens: Sequence[int], pages: Sequence[int], written: bool = True) -> Inserted:
        """Offer pages that hold the KV of ``tokens``, as in the tree of one tier.

        An evicted node on the way takes the caller's pages for its own. By policy, what was used
        often enough is copied to the host; a copy waits for the steps launched by now, so of a
        step that is still being composed there is none yet.
        """
        inserted = super().insert(tokens, pages)
        if written and not self._policy.on_eviction:
            self._write_through(inserted.node)
        return inserted

    def unpin(self, node: Node) -> None:
        """Undo one ``pin``. Raises ``PoolError`` where there was none."""
        super().unpin(node)
        if node.evicted:  # what ended on the device above it may have become a leaf meanwhile
            self._host.offer(node)
            for each in upward(node):
                self._leaves.offer(each)

    def evict(self, n: int) -> int:
        """Free ``n`` pages, or all evictable ones where they are fewer; returns how many.

        Pages leave from the end of the least recently used prefix on the device. The host keeps
        them where it has them, or where policy copies them now; otherwise they are forgotten.
        """
        freed = 0
        while freed < n and (leaf := self._leaves.pop()):
            if (spare := len(leaf.pages) - (n - freed)) > 0:
                self._split(leaf, spare * self._page)
            freed += self._give_up(leaf)
        return freed

    def clear(self) -> bool:
        """Forget every prefix that nobody uses or copies, on both tiers; whether none is left."""
        super().clear()
        self._host.evict(self._tier.pages, self._ticks + 1)
        return not self._owner and self._tier.available == self._tier.pages

    def load_back(self, match: Match, take: Callable[[int], list[int]]) -> Match:
        """Restore all of a match's host pages, or none: then the match is returned as it is.

        The nodes are locked on both tiers before any page is taken, until the load has arrived.
        """
        chain = self._restorable(match)
        if not chain or match.host_node is None:
            return match
        end = match.host_node
        self._lock(chain, end)
        if match.host_pages > self._allocator.available + self.evictable_pages:
            self._events.count("load_backs_refused")
            self._unlock(end, match.host_pages)
            return match
        host = [page for node in chain for page in node.host]
        room = Room(take, self._allocator, self.owner_of)
        pages = self._ask.load_target.pages(chain, room)
        self._own(end, list(pages))
        self._controller.load(pages, host, end)
        self._events.emit("restore", node=end.id, pages=len(pages))
        return Match(match.pages + pages, end)

    def poll(self) -> bool:
        """Note the copies that have arrived; whether anything came within reach by that."""
        backups, loads = self._controller.poll()
        for done in backups:
            self._events.count("pages_backed_up", len(done.host))
            self._written(done)
        for done in loads:
            self._events.count("pages_restored", len(done.host))
            self._unlock(done.node, len(done.host))
        return bool(backups or loads)

    def launched(self) -> int:
        """A step was composed: start its loads. Their producer index, -1 where there are none."""
        return self._controller.launched()

    def finished(self) -> None:
        """The oldest step in flight has run: backups that waited for it start."""
        self._controller.finished()

    def check(self) -> list[str]:
        """Broken invariants of either tier, as sentences."""
        two = check_tiers(self._walk(), self._page, self._tier, self._policy)
        return [*super().check(), *two]

    def _write_through(self, node: Node) -> None:
        """Copy the path to the host, first nodes first, as far as they were used often enough."""
        for each in reversed(list(upward(node))[:-1]):
            if each.host:
                continue
            if each.hits < self._policy.threshold or not self._write(each):
                break
        self._controller.start_writing()

    def _write(self, node: Node) -> bool:
        host = self._host.allocate(len(node.pages), self._ticks)
        if host is None:
            self._events.count("backups_refused")
            return False
        node.host, node.writing = host, True
        self.pin(node)
        self._controller.write(node.pages, host, node)
        self._events.emit("backup", node=node.id, pages=len(host))
        return True

    def _written(self, done: CacheOperation) -> None:
        """A backup has arrived: its node, in as many parts as it was split into, may go."""
        for part in self._parts(done.node, len(done.host)):
            part.writing = False
            self._host.offer(part)
        self.unpin(done.node)

    def _give_up(self, leaf: Node) -> int:
        """Free the pages of a device leaf; returns how many."""
        pages, parent = leaf.pages, leaf.parent
        assert parent is not None
        if not leaf.host and self._policy.on_eviction:
            self._write_back(leaf)
        for page in pages:
            del self._owner[page]
        leaf.pages, leaf.former = [], pages
        if leaf.host:
            self._host.offer(leaf)
        else:
            self._forget(leaf)
        self._events.emit("evict", node=leaf.id, pages=len(pages), kept=len(leaf.host))
        self._allocator.free(pages)
        self._leaves.offer(parent)
        return len(pages)

    def _write_back(self, leaf: Node) -> None:
        host = self._host.allocate(len(leaf.pages), self._ticks)
        if host is None:
            self._events.count("backups_refused")
            leaf.host = self._ask.backup_refusal.host(leaf) or []
            return
        leaf.host = host
        self._controller.write_now(leaf.pages, host)
        self._events.count("pages_backed_up", len(host))
        self._events.emit("backup", node=leaf.id, pages=len(host))

    def _forget(self, node: Node) -> None:
        """Drop a node without pages, and what the host has below it."""
        assert node.parent is not None
        del node.parent.children[node.tokens[: self._page]]
        for each in list(self._walk(node)):
            each.parent = None
            self._events.count("host_evicted_pages", self._host.release(each))

    def _restorable(self, match: Match) -> list[Node]:
        """The evicted nodes that a match named, in order; none if one of them is gone by now."""
        chain: list[Node] = []
        at = match.host_node
        while at is not None and at.evicted:
            chain.insert(0, at)
            at = at.parent
        whole = sum(len(each.host) for each in chain) == match.host_pages
        return chain if at is match.node and whole else []

    def _lock(self, chain: Sequence[Node], end: Node) -> None:
        self.pin(end)
        for each in chain:
            each.host_pins += 1

    def _unlock(self, end: Node, pages: int) -> None:
        for part in self._parts(end, pages):
            part.host_pins -= 1
            self._host.offer(part)
        self.unpin(end)

    def _parts(self, end: Node, pages: int) -> Iterator[Node]:
        """The nodes that the last ``pages`` of a locked prefix lie in: a split made them more."""
        for each in upward(end):
            if pages <= 0:
                break
            pages -= len(each.tokens) // self._page
            yield each

    def _own(self, end: Node, pages: list[int]) -> None:
        """Give the pages to the evicted nodes that end at ``end``, the last ones to it."""
        for each in self._parts(end, len(pages)):
            n = len(each.tokens) // self._page
            each.pages, each.former = pages[-n:], []
            del pages[-n:]
            self._owner.update(dict.fromkeys(each.pages, each))
            self._pinned_pages += len(each.pages) if each.pins else 0
            self._host.offer(each)

    def _readopt(self, node: Node, pages: list[int]) -> None:
        """An evicted prefix was computed again: its nodes take the new pages."""
        self._own(node, pages)

    def _whole(self, node: Node) -> bool:
        return node.evicted or super()._whole(node)

    def _grow(self, parent: Node, tokens: tuple[int, ...], pages: list[int]) -> Node:
        node = super()._grow(parent, tokens, pages)
        node.hits = 1
        return node

    def _split(self, node: Node, tokens: int) -> Node:
        """Cut an edge in two on both tiers; locks and copies on their way are of both parts."""
        upper, pages = super()._split(node, tokens), tokens // self._page
        upper.host, node.host = node.host[:pages], node.host[pages:]
        upper.former, node.former = node.former[:pages], node.former[pages:]
        upper.hits, upper.writing, upper.host_pins = node.hits, node.writing, node.host_pins
        self._host.offer(upper)
        return upper


def _is_device_leaf(node: Node) -> bool:
    """Whether nobody pins the node and nothing below it is on the device."""
    if not node.pages or node.pins or node.parent is None:
        return False
    return not any(child.pages for child in node.children.values())


def _on_device(node: Node) -> Node:
    """The node or its first ancestor that is not evicted."""
    return next(each for each in upward(node) if not each.evicted)

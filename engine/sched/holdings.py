"""What requests hold: pages, a request slot, and a pinned prefix.

One rule: a page is free, or the prefix cache's, or one request's. Taking (`acquire`, `grow`) and
giving (`publish`, `release`) happen here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import PAGE_TOKENS
from engine.pools.allocator import PageAllocator
from engine.sched.limits import pages_of

if TYPE_CHECKING:
    from engine.cache.prefix import PrefixCache
    from engine.events import EventLog
    from engine.request import Request


class Holdings:
    """The books over pages and over request slots 1..``max_running``; slot 0 is reserved."""

    def __init__(
        self, allocator: PageAllocator, cache: PrefixCache, max_running: int, events: EventLog
    ) -> None:
        self.allocator = allocator
        self.cache = cache
        self.slots = PageAllocator(max_running, "lifo")
        self.events = events
        self._taker = [0] * (allocator.pages + 1)  # page -> the request that took it last
        self.gains = 0  # grows when pages or slots came free, or a prefix became longer

    def acquire(self, req: Request, spare: int = 0) -> bool:
        """Give a request its slot and the pages of all its tokens, cached prefix first.

        False, and nothing changes hands, unless ``spare`` further pages could be had as well.
        """
        if not self.slots.can_allocate(1):
            return False
        match = self.cache.match(req.tokens)
        self.cache.pin(match.node)  # before anything is evicted
        need = pages_of(req.n_tokens) - len(match.pages)
        if not self._within_reach(need + spare):
            self.cache.unpin(match.node)
            return False
        req.pages = match.pages + self._take(req, need)
        req.node = match.node
        req.kv_len = len(match.pages) * PAGE_TOKENS
        [req.req_slot] = self.slots.allocate(1)
        return True

    def can_grow(self, pages: int) -> bool:
        """Whether ``pages`` more pages can be had, by eviction if need be."""
        return self._within_reach(pages)

    def grow(self, req: Request) -> None:
        """One more page for a request. Raises ``PoolError`` unless ``can_grow(1)``."""
        req.pages += self._take(req, 1)

    def publish(self, req: Request, tokens: int) -> None:
        """Let others read the KV of the whole pages in [0, ``tokens``), while ``req`` runs on.

        Duplicates stay in use by the request, which may have a step in flight that reads them.
        """
        whole = tokens // PAGE_TOKENS
        node, _ = self.cache.insert(req.tokens[: whole * PAGE_TOKENS], req.pages[:whole])
        self.cache.pin(node)
        self.cache.unpin(req.node)
        req.node = node
        self.gains += 1

    def release(self, req: Request) -> None:
        """Take everything back: whole valid pages go to the prefix cache, the rest is free."""
        # a step that was in flight at an abort wrote the KV of a token that nobody knows
        whole = min(req.kv_len, req.n_tokens) // PAGE_TOKENS
        tokens = req.tokens[: whole * PAGE_TOKENS]
        _, duplicates = self.cache.insert(tokens, req.pages[:whole])
        self.cache.unpin(req.node)
        own = [page for page in req.pages[whole:] if not self.cache.owner_of(page)]
        freed = duplicates + own
        self.allocator.free(freed)
        self.slots.free([req.req_slot])
        self.events.emit("release", request=req.id, kept=whole - len(duplicates), freed=len(freed))
        req.pages, req.node, req.kv_len, req.req_slot = [], None, 0, 0
        self.gains += 1

    def owner_of(self, page: int) -> str | None:
        """`cache`, `request 7`, or None for a page that is free, reserved or not of the pool."""
        if not self.allocator.holds(page):
            return None
        return "cache" if self.cache.owner_of(page) else f"request {self._taker[page]}"

    def generation_of(self, page: int) -> int:
        """How often the page was taken from the free ones (`PageAllocator.generation_of`)."""
        return self.allocator.generation_of(page)

    def _within_reach(self, pages: int) -> bool:
        return pages <= self.allocator.available + self.cache.evictable_pages

    def _take(self, req: Request, pages: int) -> list[int]:
        short = pages - self.allocator.available
        if short > 0:
            self.events.count("evicted_pages", self.cache.evict(short))
        taken = self.allocator.allocate(pages)
        for page in taken:
            self._taker[page] = req.id
        return taken

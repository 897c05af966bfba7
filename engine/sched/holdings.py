"""What requests hold: pages, a request slot, and a pinned prefix.

One rule: a page is free, or the prefix cache's, or one request's. Taking (`acquire`, `grow`) and
giving (`publish`, `release`) happen here and nowhere else.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.config import PAGE_TOKENS
from engine.pools.allocator import PageAllocator
from engine.sched.limits import pages_of
from engine.sched.questions import PinnedFirst, PrefixPin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.cache.prefix import Match, PrefixCache
    from engine.events import EventLog
    from engine.request import Request

CACHE = "the cache"  # who frees what it evicts


class Holdings:
    """The books over pages and over request slots 1..``max_running``; slot 0 is reserved."""

    def __init__(
        self,
        allocator: PageAllocator,
        cache: PrefixCache,
        max_running: int,
        events: EventLog,
        pin: PrefixPin | None = None,
    ) -> None:
        self._pin = pin or PinnedFirst()
        self._restored: list[int] = []
        self.allocator = allocator
        self.cache = cache
        self.slots = PageAllocator(max_running, "lifo")
        self.events = events
        self._taker = [0] * (allocator.pages + 1)  # page -> the request that took it last
        self.freeing = CACHE  # whose pages become free now, for whoever hears of it
        self.on_finish: Callable[[], None] = lambda: None  # hears that a step was processed
        self.gains = 0  # grows when pages or slots came free, or a prefix became longer

    def acquire(self, req: Request, spare: int = 0) -> bool:
        """Give a request its slot and the pages of all its tokens, cached prefix first.

        What the device lost and the host still has comes back by a copy, into pages that are the
        cache's from now on (`take_restored`). False, and nothing changes hands, unless ``spare``
        further pages could be had as well.
        """
        if not self.slots.can_allocate(1):
            return False
        match = self.cache.match(req.tokens)
        given = self._generations(match.pages)
        held = self._pin.hold(self.cache, match, partial(self._fill, req, spare))
        if held is None:
            return False
        longer, own = held
        if not req.output:
            self.cache.used(longer.node)
        restored = longer.pages[len(match.pages) :]
        req.pages = longer.pages + own
        req.takes = given + self._generations(restored + own)
        req.node = longer.node
        req.kv_len = len(longer.pages) * PAGE_TOKENS
        req.host_tokens = len(restored) * PAGE_TOKENS
        self._restored += restored
        [req.req_slot] = self.slots.allocate(1)
        return True

    @property
    def moves(self) -> tuple[int, int, int]:
        """Equal at two moments, and nothing changed hands in between, whoever it was that would."""
        return self.allocator.turns, self.slots.turns, self.gains

    def take_restored(self) -> list[int]:
        """Device pages that the admissions since the last call get from the host."""
        restored, self._restored = self._restored, []
        return restored

    def finished(self) -> None:
        """The oldest step in flight is being processed: what it did is known from now on."""
        self.on_finish()
        self.cache.finished()

    def can_grow(self, pages: int) -> bool:
        """Whether ``pages`` more pages can be had, by eviction if need be."""
        return self._within_reach(pages)

    def grow(self, req: Request) -> None:
        """One more page for a request. Raises ``PoolError`` unless ``can_grow(1)``."""
        taken = self._take(req, 1)
        req.pages += taken
        req.takes += self._generations(taken)

    def publish(self, req: Request, tokens: int, written: bool = True) -> None:
        """Let others read the KV of the whole pages in [0, ``tokens``), while ``req`` runs on.

        ``written`` unless the step that writes them is still being composed.
        Duplicates stay in use by the request, which may have a step in flight that reads them.
        """
        whole = self._sound(req, tokens // PAGE_TOKENS)
        prefix = req.tokens[: whole * PAGE_TOKENS]
        node, _ = self.cache.insert(prefix, req.pages[:whole], written)
        self.cache.pin(node)
        self.cache.unpin(req.node)
        req.node = node
        self.gains += 1

    def release(self, req: Request) -> None:
        """Take everything back: whole valid pages go to the prefix cache, the rest is free."""
        # a step that was in flight at an abort wrote the KV of a token that nobody knows
        whole = self._sound(req, min(req.kv_len, req.n_tokens) // PAGE_TOKENS)
        tokens = req.tokens[: whole * PAGE_TOKENS]
        _, duplicates = self.cache.insert(tokens, req.pages[:whole])
        self.cache.unpin(req.node)
        rest = zip(req.pages[whole:], req.takes[whole:], strict=True)
        own = [page for page, take in rest if self._still_its(page, take)]
        freed = duplicates + own
        self.freeing = f"request {req.id}"
        self.allocator.free(freed)
        self.freeing = CACHE
        self.slots.free([req.req_slot])
        self.events.emit("release", request=req.id, kept=whole - len(duplicates), freed=len(freed))
        req.pages, req.takes, req.node, req.kv_len, req.req_slot = [], [], None, 0, 0
        self.gains += 1

    def owner_of(self, page: int) -> str | None:
        """`cache`, `request 7`, or None for a page that is free, reserved or not of the pool."""
        if not self.allocator.holds(page):
            return None
        return "cache" if self.cache.owner_of(page) else f"request {self._taker[page]}"

    def generation_of(self, page: int) -> int:
        """How often the page was taken from the free ones (`PageAllocator.generation_of`)."""
        return self.allocator.generation_of(page)

    def stale_users(self, pages: Sequence[int], held: Iterable[Request]) -> list[tuple[str, int]]:
        """Of the requests ``held``, those that use one of ``pages`` under an older generation."""
        asked = dict.fromkeys(pages)
        return [
            (f"request {req.id}", page)
            for req in held
            for page, take in zip(req.pages, req.takes, strict=True)
            if page in asked and take != self.generation_of(page)
        ]

    def _fill(self, req: Request, spare: int, match: Match) -> tuple[Match, list[int]] | None:
        """Pages for the tokens behind a match: from the host where it has them, then new ones."""
        if not self._within_reach(pages_of(req.n_tokens) - len(match.pages) + spare):
            return None
        take = partial(self._take, req)
        if match.host_pages:
            match = self.cache.load_back(match, take)
        return match, take(pages_of(req.n_tokens) - len(match.pages))

    def _sound(self, req: Request, whole: int) -> int:
        """How many of the first ``whole`` pages are still those that the request was given.

        Only what is still its own may be offered to the cache: the books outlive a broken engine.
        """
        for index, (page, take) in enumerate(zip(req.pages[:whole], req.takes, strict=False)):
            if not self.allocator.holds(page) or self.generation_of(page) != take:
                return index
        return whole

    def _still_its(self, page: int, take: int) -> bool:
        """Whether a request still owns a page that it was given as generation ``take``."""
        held = self.allocator.holds(page) and self.generation_of(page) == take
        return held and not self.cache.owner_of(page)

    def _generations(self, pages: Sequence[int]) -> list[int]:
        return [self.generation_of(page) for page in pages]

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

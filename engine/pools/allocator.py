"""Who may use which page. One rule: the order in which pages are handed out is explicit.

Pages are numbered 1..pages; page 0 is reserved, so a padded row's slot 0 belongs to nobody.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Literal, Protocol

from engine.errors import ConfigError, PoolError

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

Order = Literal["lifo", "fifo", "random"]


class FreeList(Protocol):
    """Free pages in an order of their own; every operation is O(1)."""

    def take(self) -> int:
        """Remove and return the next page."""

    def give(self, page: int) -> None:
        """Put a page back."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[int]: ...


class Lifo(list[int]):
    """The page freed last is used first: a stale writer meets its next owner soonest."""

    def __init__(self, pages: int) -> None:
        super().__init__(range(pages, 0, -1))

    def take(self) -> int:
        return self.pop()

    def give(self, page: int) -> None:
        self.append(page)


class Fifo(deque[int]):
    """The page freed first is used first: the longest rest between two owners."""

    def __init__(self, pages: int) -> None:
        super().__init__(range(1, pages + 1))

    def take(self) -> int:
        return self.popleft()

    def give(self, page: int) -> None:
        self.append(page)


class Shuffled(list[int]):
    """Any free page, drawn from a seeded generator."""

    def __init__(self, pages: int, rng: random.Random) -> None:
        super().__init__(range(1, pages + 1))
        self._rng = rng

    def take(self) -> int:
        at = self._rng.randrange(len(self))
        self[at], self[-1] = self[-1], self[at]
        return self.pop()

    def give(self, page: int) -> None:
        self.append(page)


def free_list(pages: int, order: Order, rng: random.Random | None) -> FreeList:
    """An order's free list. Raises ``ConfigError``: unknown order, or `random` without ``rng``."""
    if order == "lifo":
        return Lifo(pages)
    if order == "fifo":
        return Fifo(pages)
    if order == "random" and rng is not None:
        return Shuffled(pages, rng)
    raise ConfigError(f"page order {order!r}: accepted: lifo, fifo, random (with a generator)")


class PageAllocator:
    """Hands out pages 1..``pages`` in ``order``; a page is free or held, never both.

    ``rng`` is read by the order `random` only; ``on_free`` hears of pages that nobody holds now,
    ``on_take`` of pages that were handed out.
    All sizes are pages.
    """

    def __init__(
        self,
        pages: int,
        order: Order = "lifo",
        rng: random.Random | None = None,
        on_free: Callable[[Sequence[int]], None] | None = None,
        on_take: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        self.pages = pages
        self.on_free, self.on_take = on_free, on_take
        self.generations = [0] * (pages + 1)  # page -> how often it was handed out
        self.turns = 0  # grows whenever pages are handed out or given back
        self._free = free_list(pages, order, rng)
        self._held = bytearray(pages + 1)  # one flag a page: [0, pages], 0 never held

    @property
    def available(self) -> int:
        """Free pages."""
        return len(self._free)

    def can_allocate(self, n: int) -> bool:
        """Whether ``allocate(n)`` would succeed."""
        return n <= len(self._free)

    def allocate(self, n: int) -> list[int]:
        """Take ``n`` pages, all or none. Raises ``PoolError`` where fewer are free."""
        if not 0 <= n <= len(self._free):
            raise PoolError(f"{n} pages asked for, {len(self._free)} of {self.pages} are free")
        pages = [self._free.take() for _ in range(n)]
        self.turns += 1
        for page in pages:
            self._held[page] = 1
            self.generations[page] += 1
        if self.on_take and pages:
            self.on_take(pages)
        return pages

    def free(self, pages: Sequence[int]) -> None:
        """Give pages back, in this order. Raises ``PoolError`` at one that is not held."""
        self.turns += 1
        for page in pages:
            if not self.holds(page):
                raise PoolError(f"page {page} was freed, but nobody holds it (of {self.pages})")
            self._held[page] = 0
            self._free.give(page)
        if self.on_free and pages:
            self.on_free(pages)

    def generation_of(self, page: int) -> int:
        """How often the page was handed out: equal at two moments, and nobody else held it in
        between. 0 for a page that is reserved or not of the pool.
        """
        return self.generations[page] if 0 < page <= self.pages else 0

    def holds(self, page: int) -> bool:
        """Whether somebody holds the page: false for free, reserved and foreign ones."""
        return 0 < page <= self.pages and bool(self._held[page])

    def free_pages(self) -> list[int]:
        """The free pages, for audits; the order means nothing to a caller."""
        return list(self._free)

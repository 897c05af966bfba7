"""Who owns which page, asked from outside. One rule: free + cached + owned is all, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engine.request import Request
    from engine.sched.holdings import Holdings


def check(holdings: Holdings, requests: Iterable[Request]) -> list[str]:
    """Broken invariants, as sentences: owners, conservation, pins, slots, the cache's own.

    ``requests`` are all that hold something. The owners are counted anew from free list, tree and
    requests, then compared with what ``owner_of`` says.
    """
    held = list(requests)
    return [
        *_pages(holdings, held),
        *_pins(holdings, held),
        *_slots(holdings, held),
        *holdings.cache.check(),
    ]


def _pages(holdings: Holdings, held: Sequence[Request]) -> Iterator[str]:
    owner: dict[int, str] = {}
    for page, who in _claims(holdings, held):
        if page in owner:
            yield f"page {page} is owned by {owner[page]} and by {who}"
        owner[page] = who
    for page in range(1, holdings.allocator.pages + 1):
        said = holdings.owner_of(page) or "free"
        if owner.pop(page, "nobody") != said:
            yield f"page {page} is said to be owned by {said}, and is not"
    yield from (f"page {page} of {who} is not of the pool" for page, who in owner.items())


def _claims(holdings: Holdings, held: Sequence[Request]) -> Iterator[tuple[int, str]]:
    """Each page with its owner: `free`, `cache` or `request 7`; twice, where two own it."""
    yield from ((page, "free") for page in holdings.allocator.free_pages())
    for page in range(1, holdings.allocator.pages + 1):
        if holdings.cache.owner_of(page):
            yield page, "cache"
    for req in held:
        private = (page for page in req.pages if not holdings.cache.owner_of(page))
        yield from ((page, f"request {req.id}") for page in private)


def _pins(holdings: Holdings, held: Sequence[Request]) -> Iterator[str]:
    for req in held:
        for page in req.pages:
            node = holdings.cache.owner_of(page)
            if node is not None and not node.pins:
                yield f"request {req.id} uses page {page}, which may be evicted"


def _slots(holdings: Holdings, held: Sequence[Request]) -> Iterator[str]:
    slots = sorted([*holdings.slots.free_pages(), *(req.req_slot for req in held)])
    if slots != list(range(1, holdings.slots.pages + 1)):
        yield f"request slots, free and held, are {slots}"

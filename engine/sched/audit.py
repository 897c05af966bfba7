"""Who owns which page, asked from outside. One rule: free + cached + owned is all, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.request import Request
    from engine.sched.holdings import Holdings


def owners(holdings: Holdings, requests: Iterable[Request]) -> tuple[dict[int, str], list[str]]:
    """Each page's owner ("free", "cache" or "request <id>"), and what contradicts that."""
    claims = [(page, "free") for page in holdings.allocator.free_pages()]
    claims += [(page, "cache") for page in _pages(holdings) if holdings.cache.owner_of(page)]
    wrong: list[str] = []
    for req in requests:
        for page in req.pages:
            node = holdings.cache.owner_of(page)
            if node is None:
                claims.append((page, f"request {req.id}"))
            elif not node.pins:
                wrong.append(f"request {req.id} uses page {page}, which may be evicted")
    owner: dict[int, str] = {}
    for page, who in claims:
        if page in owner:
            wrong.append(f"page {page} is owned by {owner[page]} and by {who}")
        owner[page] = who
    return owner, wrong


def check(holdings: Holdings, requests: Iterable[Request]) -> list[str]:
    """Broken invariants, as sentences: owners, conservation, request slots, the cache's own."""
    held = list(requests)
    owner, wrong = owners(holdings, held)
    wrong += [f"page {page} is owned by nobody" for page in _pages(holdings) if page not in owner]
    wrong += [f"page {page} is not of the pool" for page in owner if page not in _pages(holdings)]
    slots = sorted([*holdings.slots.free_pages(), *(req.req_slot for req in held)])
    if slots != list(range(1, holdings.slots.pages + 1)):
        wrong.append(f"request slots, free and held, are {slots}")
    return wrong + holdings.cache.check()


def _pages(holdings: Holdings) -> range:
    return range(1, holdings.allocator.pages + 1)

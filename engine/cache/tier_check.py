"""The books of two tiers. One rule: a host page is free or one node's, and each is there once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engine.cache.prefix import Node
    from engine.cache.tiers import HostPage, HostTier
    from engine.cache.write_policy import WritePolicy


def check_tiers(
    nodes: Iterable[Node], page_tokens: int, tier: HostTier, policy: WritePolicy
) -> Iterator[str]:
    """Broken invariants, as sentences: copies that fit their nodes, order, conservation.

    The reserved host page is nobody's, and not counted.
    """
    held: list[HostPage] = []
    for node in nodes:
        held += [page for page in node.host if page.anchor]
        yield from _node(node, page_tokens, policy)
    if len(held) + tier.available != tier.pages:
        yield f"{len(held)} host pages are held, {tier.available} free, of {tier.pages}"
    for side, pages in (("anchor", [p.anchor for p in held]), ("swa", [p.swa for p in held])):
        for page, times in Counter(pages).items():
            if times > 1:
                yield f"host page {page} ({side}) is held {times} times"


def _node(node: Node, page_tokens: int, policy: WritePolicy) -> Iterator[str]:
    parent = node.parent
    if parent is None:
        return
    if node.host and len(node.tokens) != len(node.host) * page_tokens:
        yield f"radix node {node.id} has {len(node.tokens)} tokens on {len(node.host)} host pages"
    if node.evicted and (not node.host or node.writing):
        yield f"radix node {node.id} is on no tier"
    if node.pages and parent.evicted:
        yield f"radix node {node.id} is on the device, and what it continues is not"
    if policy.closed and node.host and parent.parent is not None and not parent.host:
        yield f"radix node {node.id} is on the host, and what it continues is not"
    if (node.writing or node.host_pins) and not node.pins:
        yield f"radix node {node.id} is being copied, and may be evicted"

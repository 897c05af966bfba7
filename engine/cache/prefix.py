"""What the scheduler asks of a prefix cache, and the answer of an engine that has none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(eq=False, slots=True)
class Node:
    """One edge of the tree: whole pages of tokens below a parent.

    ``pages[i]`` holds the KV of ``tokens[256 i : 256 (i + 1)]`` of this edge. ``pins`` counts the
    requests that use the node or one below it; ``stamp`` is the tick of its last use.
    """

    id: int
    parent: Node | None = None
    tokens: tuple[int, ...] = ()
    pages: list[int] = field(default_factory=list)
    children: dict[tuple[int, ...], Node] = field(default_factory=dict)  # by their first page
    pins: int = 0
    stamp: int = 0
    queued: bool = False  # has its one entry in the eviction queue


class Match(NamedTuple):
    """The longest cached prefix: its pages in order and the node that ends it."""

    pages: list[int]
    node: Node


class Inserted(NamedTuple):
    """The node that ends an inserted prefix, and the caller's pages that the cache did not take."""

    node: Node
    duplicates: list[int]


class PrefixCache(Protocol):
    """A cache of prefixes by whole pages. Sizes are pages."""

    @property
    def cached_pages(self) -> int:
        """Pages that the cache owns."""

    @property
    def evictable_pages(self) -> int:
        """Pages that ``evict`` could free now."""

    def match(self, tokens: Sequence[int]) -> Match:
        """The longest cached prefix that leaves at least one token to compute."""

    def pin(self, node: Node) -> None:
        """Keep a prefix from eviction."""

    def unpin(self, node: Node) -> None:
        """Undo one ``pin``."""

    def insert(self, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        """Offer pages that hold the KV of ``tokens``; ownership of all but duplicates moves."""

    def evict(self, n: int) -> int:
        """Free at least ``n`` pages where so many are evictable; returns how many were freed."""

    def owner_of(self, page: int) -> Node | None:
        """The node that owns a page, or None."""

    def check(self) -> list[str]:
        """Broken invariants, as sentences."""


class NoPrefix:
    """The cache of an engine that keeps no prefixes: it matches nothing and takes nothing."""

    cached_pages = 0
    evictable_pages = 0

    def __init__(self) -> None:
        self._root = Node(id=0)

    def match(self, tokens: Sequence[int]) -> Match:
        return Match([], self._root)

    def pin(self, node: Node) -> None:
        node.pins += 1

    def unpin(self, node: Node) -> None:
        node.pins -= 1

    def insert(self, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        return Inserted(self._root, list(pages))

    def evict(self, n: int) -> int:
        return 0

    def owner_of(self, page: int) -> Node | None:
        return None

    def check(self) -> list[str]:
        return []

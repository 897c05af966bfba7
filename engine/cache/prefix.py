"""What the scheduler asks of a prefix cache, and the answer of an engine that has none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.cache.tiers import HostPage


@dataclass(eq=False, slots=True)
class Node:
    """One edge of the tree: whole pages of tokens below a parent.

    ``pages[i]`` holds the KV of ``tokens[256 i : 256 (i + 1)]`` of this edge. ``pins`` counts the
    requests that use the node or one below it; ``stamp`` is the tick of its last use.

    Over two tiers, ``host[i]`` is where the host keeps page i too (all of them or none). A node
    with tokens and no pages is evicted: its KV is on the host alone. ``former`` are the device
    pages that it had then.
    """

    id: int
    parent: Node | None = None
    tokens: tuple[int, ...] = ()
    pages: list[int] = field(default_factory=list)
    children: dict[tuple[int, ...], Node] = field(default_factory=dict)  # by their first page
    pins: int = 0
    stamp: int = 0
    host: list[HostPage] = field(default_factory=list)
    hits: int = 0  # requests that used the node
    writing: bool = False  # a backup is on its way: ``host`` may not be read yet
    host_pins: int = 0  # loads on their way out of ``host``
    former: list[int] = field(default_factory=list)

    @property
    def evicted(self) -> bool:
        """Whether the node is on the host alone."""
        return bool(self.tokens) and not self.pages


def upward(node: Node) -> Iterator[Node]:
    """The node and its ancestors, the root included."""
    at: Node | None = node
    while at is not None:
        yield at
        at = at.parent


class Match(NamedTuple):
    """The longest cached prefix: its pages in order and the node that ends it.

    ``host_pages`` more follow on the host, down to ``host_node``: ``load_back`` restores them.
    """

    pages: list[int]
    node: Node
    host_node: Node | None = None
    host_pages: int = 0


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

    def used(self, node: Node) -> None:
        """A request was admitted over the prefix that ends at ``node``: not for having been asked
        for, nor for a request that comes back to what it used before.
        """

    def pin(self, node: Node) -> None:
        """Keep a prefix from eviction."""

    def unpin(self, node: Node) -> None:
        """Undo one ``pin``."""

    def insert(self, tokens: Sequence[int], pages: Sequence[int], written: bool = True) -> Inserted:
        """Offer pages that hold the KV of ``tokens``; ownership of all but duplicates moves.

        Not ``written`` is what a step that is still being composed will write: nothing below the
        device is told of it before it is offered again.
        """

    def evict(self, n: int) -> int:
        """Free at least ``n`` pages where so many are evictable; returns how many were freed."""

    def clear(self) -> bool:
        """Forget every prefix that nobody uses, on all tiers; whether nothing is left."""

    def owner_of(self, page: int) -> Node | None:
        """The node that owns a page, or None."""

    def load_back(self, match: Match, take: Callable[[int], list[int]]) -> Match:
        """Restore all of a match's host pages into pages that ``take(n)`` gives, or none.

        The caller pins ``match.node`` before, and the answer's node after. The loads start with
        the next ``launched()``; the pages may be read layer by layer from then on.
        """

    def poll(self) -> bool:
        """Note the copies that have finished; whether anything came free or within reach."""

    def launched(self) -> int:
        """A step was composed: start its loads. Their producer index, -1 where there are none."""

    def finished(self) -> None:
        """The oldest step in flight has run."""

    def check(self) -> list[str]:
        """Broken invariants, as sentences."""


class OneTier:
    """The answers of a cache with no host tier below it: nothing is restored or on its way."""

    def used(self, node: Node) -> None:
        """Nothing is copied for having been used."""

    def load_back(self, match: Match, take: Callable[[int], list[int]]) -> Match:
        return match

    def poll(self) -> bool:
        return False

    def launched(self) -> int:
        return -1

    def finished(self) -> None:
        """Nothing waits for a step."""


class NoPrefix(OneTier):
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

    def insert(self, tokens: Sequence[int], pages: Sequence[int], written: bool = True) -> Inserted:
        return Inserted(self._root, list(pages))

    def evict(self, n: int) -> int:
        return 0

    def clear(self) -> bool:
        return True

    def owner_of(self, page: int) -> Node | None:
        return None

    def check(self) -> list[str]:
        return []

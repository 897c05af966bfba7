"""The device prefix cache: a radix tree over whole pages of tokens.

One rule: the tree owns the pages in it, and a request only pins them. A node's pins count every
user of it or of a node below, so an unpinned node has no pinned descendant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.lru import LeafQueue, is_free_leaf
from engine.cache.prefix import Inserted, Match, Node, OneTier, upward
from engine.errors import PoolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.pools.allocator import PageAllocator


class RadixCache(OneTier):
    """Prefixes by whole pages of ``page_tokens`` tokens; evicts leaf first, least recently used."""

    def __init__(self, page_tokens: int, allocator: PageAllocator) -> None:
        self._page = page_tokens
        self._allocator = allocator
        self._root = Node(id=0)
        self._owner: dict[int, Node] = {}
        self._leaves = LeafQueue(is_free_leaf)
        self._pinned_pages = 0
        self._ticks = 0
        self._nodes = 0

    @property
    def cached_pages(self) -> int:
        """Pages that the tree owns."""
        return len(self._owner)

    @property
    def evictable_pages(self) -> int:
        """Pages that ``evict`` could free now."""
        return len(self._owner) - self._pinned_pages

    def match(self, tokens: Sequence[int]) -> Match:
        """The longest cached prefix that leaves at least one token to compute.

        The pages stay evictable until the caller pins ``node``.
        """
        whole = (len(tokens) - 1) // self._page * self._page
        node, _ = self._descend(tuple(tokens[:whole]))
        self._use(node)
        return Match(self._path_pages(node), node)

    def pin(self, node: Node) -> None:
        """Keep the prefix that ends at ``node`` from eviction."""
        for each in upward(node):
            if not each.pins:
                self._pinned_pages += len(each.pages)
            each.pins += 1

    def unpin(self, node: Node) -> None:
        """Undo one ``pin``. Raises ``PoolError`` where there was none."""
        if not node.pins:
            raise PoolError(f"radix node {node.id} was unpinned more often than pinned")
        for each in upward(node):
            each.pins -= 1
            if not each.pins:
                self._pinned_pages -= len(each.pages)
        self._leaves.offer(node)

    def insert(self, tokens: Sequence[int], pages: Sequence[int], written: bool = True) -> Inserted:
        """Offer pages that hold the KV of ``tokens``, whole pages of them.

        The tree takes those of a suffix that it lacks. ``duplicates`` are the caller's pages whose
        tokens it has in another page: they stay the caller's. Raises ``PoolError`` on a page that
        the tree owns elsewhere, or where pages and tokens do not agree.
        """
        if len(tokens) != len(pages) * self._page:
            raise PoolError(f"{len(pages)} pages cannot hold exactly {len(tokens)} tokens")
        key = tuple(tokens)
        node, at = self._descend(key)
        known, agreed = self._path_pages(node), at // self._page
        duplicates = [mine for mine, held in zip(pages, known, strict=False) if mine != held]
        self._refuse_owned(pages[len(known) :])
        self._readopt(node, list(pages[len(known) : agreed]))
        if at < len(key):
            node = self._grow(node, key[at:], list(pages[agreed:]))
        self._use(node)
        self._leaves.offer(node)
        return Inserted(node, duplicates)

    def evict(self, n: int) -> int:
        """Free ``n`` pages, or all evictable ones where they are fewer; returns how many.

        Pages leave from the end of the least recently used leaf, so what stays is a prefix.
        """
        freed = 0
        while freed < n and (leaf := self._leaves.pop()):
            gone = leaf.pages[-(n - freed) :]
            self._trim(leaf, len(gone))
            self._allocator.free(gone)
            freed += len(gone)
        return freed

    def clear(self) -> bool:
        """Forget every prefix that nobody uses; whether nothing is left."""
        self.evict(self.evictable_pages)
        return not self._owner

    def owner_of(self, page: int) -> Node | None:
        """The node that owns a page, or None."""
        return self._owner.get(page)

    def check(self) -> list[str]:
        """Broken invariants, as sentences: pages owned, pins and edges against each other."""
        wrong: list[str] = []
        pages = pinned = 0
        for node in self._walk():
            pages += len(node.pages)
            pinned += len(node.pages) if node.pins else 0
            wrong += self._check_node(node)
        if (pages, pinned) != (len(self._owner), self._pinned_pages):
            wrong.append(f"the tree holds {pages} pages, {pinned} pinned, and counts otherwise")
        return wrong

    def _check_node(self, node: Node) -> Iterator[str]:
        for page in node.pages:
            if self._owner.get(page) is not node or not self._allocator.holds(page):
                yield f"page {page} of radix node {node.id} is not its own"
        if node.parent is not None and not self._whole(node):
            yield f"radix node {node.id} has {len(node.tokens)} tokens on {len(node.pages)} pages"
        if sum(child.pins for child in node.children.values()) > node.pins:
            yield f"radix node {node.id} is pinned less often than its children"

    def _whole(self, node: Node) -> bool:
        """Whether a node has the pages of its tokens."""
        return len(node.tokens) == len(node.pages) * self._page

    def _descend(self, key: tuple[int, ...]) -> tuple[Node, int]:
        """The node at which the tree stops agreeing with ``key``, and the tokens agreed on.

        An edge that agrees in part is split there, so that a pin holds what is used and no more.
        """
        node, at = self._root, 0
        while at < len(key) and (child := node.children.get(key[at : at + self._page])):
            same = self._agreeing(child.tokens, key, at)
            node = child if same == len(child.tokens) else self._split(child, same)
            at += same
        return node, at

    def _agreeing(self, edge: tuple[int, ...], key: tuple[int, ...], at: int) -> int:
        """Tokens, in whole pages, on which an edge agrees with ``key[at:]``."""
        if key[at : at + len(edge)] == edge:
            return len(edge)
        same, step = self._page, self._page  # the first page is how the edge was found
        while edge[same : same + step] == key[at + same : at + same + step]:
            same += step
        return same

    def _split(self, node: Node, tokens: int) -> Node:
        """Cut the first ``tokens`` of an edge off into a new parent; returns the parent.

        ``node`` stays the lower part: whoever pinned it used all of it.
        """
        assert node.parent is not None
        pages = tokens // self._page
        upper = self._new(node.parent, node.tokens[:tokens], node.pages[:pages])
        upper.pins, upper.stamp = node.pins, node.stamp
        node.parent, node.tokens, node.pages = upper, node.tokens[tokens:], node.pages[pages:]
        upper.children[node.tokens[: self._page]] = node
        return upper

    def _refuse_owned(self, pages: Sequence[int]) -> None:
        for page in pages:
            if page in self._owner:
                raise PoolError(f"page {page} was given to the prefix cache twice")

    def _readopt(self, node: Node, pages: list[int]) -> None:
        """Give the pages to the nodes that end at ``node`` and own none; one tier has no such."""

    def _grow(self, parent: Node, tokens: tuple[int, ...], pages: list[int]) -> Node:
        """A new leaf below ``parent`` that takes ``pages``."""
        return self._new(parent, tokens, pages)

    def _new(self, parent: Node, tokens: tuple[int, ...], pages: list[int]) -> Node:
        self._nodes += 1
        node = Node(self._nodes, parent, tokens, pages)
        parent.children[tokens[: self._page]] = node
        self._owner.update(dict.fromkeys(pages, node))
        return node

    def _trim(self, leaf: Node, pages: int) -> None:
        """Drop the last ``pages`` of an unpinned leaf; the leaf itself when none is left."""
        assert leaf.parent is not None
        for page in leaf.pages[-pages:]:
            del self._owner[page]
        if pages < len(leaf.pages):
            del leaf.pages[-pages:]
            leaf.tokens = leaf.tokens[: len(leaf.pages) * self._page]
            self._leaves.offer(leaf)
        else:
            del leaf.parent.children[leaf.tokens[: self._page]]
            self._leaves.offer(leaf.parent)
            leaf.parent, leaf.pages = None, []  # not of the tree: an old queue entry is dropped

    def _use(self, node: Node) -> None:
        self._ticks += 1
        for each in upward(node):
            each.stamp = self._ticks

    def _path_pages(self, node: Node) -> list[int]:
        parts = [each.pages for each in upward(node)]
        return [page for part in reversed(parts) for page in part]

    def _walk(self, top: Node | None = None) -> Iterator[Node]:
        """Every node, parents first, or those from ``top`` down."""
        todo = [top or self._root]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(node.children.values())

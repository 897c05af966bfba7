"""The prefix tree finds the longest cached prefix of whole pages, and loses nobody's pages."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.cache.prefix import Match, Node
from engine.cache.radix import RadixCache
from engine.errors import PoolError
from engine.pools.allocator import PageAllocator

PAGE = 4


def tree(pages: int = 16) -> tuple[RadixCache, PageAllocator]:
    pool = PageAllocator(pages)
    return RadixCache(PAGE, pool), pool


def text(pages: str) -> list[int]:
    """A page of equal tokens for each letter: `ab` is 4 tokens a, then 4 tokens b."""
    return [ord(letter) for letter in pages for _ in range(PAGE)]


def cache(radix: RadixCache, pool: PageAllocator, pages: str) -> Node:
    """Compute what is missing of a prefix and publish it, as a request does."""
    matched = radix.match([*text(pages), 0]).pages
    new = pool.allocate(len(pages) - len(matched))
    node, duplicates = radix.insert(text(pages), matched + new)
    assert not duplicates
    return node


def test_a_cached_prefix_is_found() -> None:
    radix, pool = tree()
    cache(radix, pool, "abc")
    assert radix.match([*text("abx"), 0]).pages == [1, 2]
    assert radix.match(text("xabc")).pages == []


@pytest.mark.parametrize(("length", "pages"), [(1, 0), (4, 0), (5, 1), (8, 1), (9, 2), (12, 2)])
def test_a_match_leaves_a_token_to_compute(length: int, pages: int) -> None:
    radix, pool = tree()
    cache(radix, pool, "abc")
    assert len(radix.match(text("abc")[:length]).pages) == pages


def test_a_page_that_differs_in_its_last_token_does_not_match() -> None:
    radix, pool = tree()
    cache(radix, pool, "ab")
    assert radix.match([*text("ab")[:-1], 0, 0]).pages == [1]


def test_an_edge_is_split_where_prefixes_part() -> None:
    radix, pool = tree()
    deep = cache(radix, pool, "abc")
    cache(radix, pool, "abd")
    assert radix.owner_of(1) is radix.owner_of(2) is deep.parent
    assert radix.owner_of(3) is deep
    assert radix.match([*text("abd"), 0]).pages == [1, 2, 4]
    assert radix.check() == []


def test_pages_that_the_tree_has_already_stay_the_callers() -> None:
    radix, pool = tree()
    cache(radix, pool, "ab")
    mine = pool.allocate(3)
    node, duplicates = radix.insert(text("abc"), mine)
    assert duplicates == mine[:2]
    assert radix.owner_of(mine[2]) is node
    assert radix.cached_pages == 3


def test_offering_the_same_pages_again_changes_nothing() -> None:
    radix, pool = tree()
    node = cache(radix, pool, "ab")
    assert radix.insert(text("ab"), [1, 2]) == (node, [])
    assert radix.cached_pages == 2


def test_the_prefix_unused_for_longest_goes_first() -> None:
    radix, pool = tree()
    for prefix in ("a", "b", "c"):
        cache(radix, pool, prefix)
    radix.match(text("ax"))
    assert radix.evict(1) == 1
    assert [bool(radix.match([*text(p), 0]).pages) for p in "abc"] == [True, False, True]


def test_eviction_takes_a_leafs_last_pages_and_spares_what_is_shared() -> None:
    radix, pool = tree()
    cache(radix, pool, "abcd")
    cache(radix, pool, "abx")
    assert radix.evict(1) == 1
    assert radix.match([*text("abcd"), 0]).pages == [1, 2, 3]
    assert pool.available == 16 - 4
    assert radix.check() == []


def test_a_pinned_prefix_is_not_evicted_and_its_continuation_is() -> None:
    radix, pool = tree()
    cache(radix, pool, "abc")
    node = radix.match(text("abx")).node
    radix.pin(node)
    assert radix.evictable_pages == 1
    assert radix.evict(9) == 1
    assert radix.match([*text("abc"), 0]).pages == [1, 2]
    radix.unpin(node)
    assert radix.evict(9) == 2
    assert pool.available == 16


def test_a_pin_below_an_edge_that_is_split_later_holds_both_parts() -> None:
    radix, pool = tree()
    radix.pin(cache(radix, pool, "abc"))
    cache(radix, pool, "abd")
    assert radix.evict(9) == 1
    assert radix.match([*text("abc"), 0]).pages == [1, 2, 3]


def test_a_cleared_tree_matches_nothing_and_has_given_all_back() -> None:
    radix, pool = tree()
    cache(radix, pool, "abc")
    cache(radix, pool, "abx")
    assert radix.clear()
    assert radix.match([*text("abc"), 0]).pages == []
    assert (radix.cached_pages, pool.available, radix.check()) == (0, 16, [])


def test_what_somebody_uses_outlives_a_clearing() -> None:
    radix, pool = tree()
    node = cache(radix, pool, "ab")
    cache(radix, pool, "xy")
    radix.pin(node)
    assert not radix.clear()
    assert radix.match([*text("ab"), 0]).pages == [1, 2]
    assert radix.match([*text("xy"), 0]).pages == []


def test_an_unpin_without_a_pin_is_an_error() -> None:
    radix, pool = tree()
    node = cache(radix, pool, "a")
    with pytest.raises(PoolError, match="more often than pinned"):
        radix.unpin(node)


def test_a_page_cannot_hold_two_prefixes() -> None:
    radix, pool = tree()
    cache(radix, pool, "a")
    with pytest.raises(PoolError, match="twice"):
        radix.insert(text("b"), [1])


def test_pages_and_tokens_must_agree() -> None:
    radix, _ = tree()
    with pytest.raises(PoolError, match="1 pages cannot hold exactly 5 tokens"):
        radix.insert([1, 2, 3, 4, 5], [1])


class RadixModel(RuleBasedStateMachine):
    """The tree beside a dict: page -> the whole prefix that ends with it."""

    PREFIX = st.text("ab", min_size=0, max_size=5)

    @initialize()
    def start(self) -> None:
        self.radix, self.pool = tree(pages=12)
        self.held: dict[int, str] = {}  # what the tree must know of each page that it owns
        self.pins: list[tuple[str, Match]] = []

    @rule(prefix=PREFIX, fresh=st.booleans())
    def publish(self, prefix: str, fresh: bool) -> None:
        """As one request, or as one that computed from the start beside another."""
        matched = [] if fresh else self.radix.match([*text(prefix), 0]).pages
        need = len(prefix) - len(matched)
        if not self.pool.can_allocate(need):
            return
        new = self.pool.allocate(need)
        _, duplicates = self.radix.insert(text(prefix), matched + new)
        self.pool.free(duplicates)
        for i, page in enumerate(matched + new):
            if page not in duplicates:
                self.held[page] = prefix[: i + 1]

    @rule(prefix=PREFIX)
    def match(self, prefix: str) -> None:
        match = self.radix.match([*text(prefix), 0])
        pages = match.pages
        known = list(self.held.values())
        assert [self.held[page] for page in pages] == [prefix[: i + 1] for i in range(len(pages))]
        assert prefix[: len(pages) + 1] not in known or len(pages) == len(prefix)
        self.radix.pin(match.node)
        self.pins.append((prefix, match))

    @precondition(lambda self: self.pins)
    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.pins) - 1))
        self.radix.unpin(self.pins.pop(at)[1].node)

    @rule(n=st.integers(0, 6))
    def evict(self, n: int) -> None:
        before, evictable = self.pool.available, self.radix.evictable_pages
        assert self.radix.evict(n) == self.pool.available - before == min(n, evictable)
        self.held = {page: at for page, at in self.held.items() if self.radix.owner_of(page)}

    @invariant()
    def pages_are_conserved_and_pins_hold(self) -> None:
        assert self.radix.check() == []
        assert self.radix.cached_pages == len(self.held) == self.pool.pages - self.pool.available
        for prefix, match in self.pins:
            assert [self.held[page] for page in match.pages] == [
                prefix[: i + 1] for i in range(len(match.pages))
            ]


TestRadixModel = RadixModel.TestCase

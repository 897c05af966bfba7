"""Pages are handed out in a stated order, and held by one owner at a time."""

from __future__ import annotations

import random

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.errors import ConfigError, PoolError
from engine.pools.allocator import Order, PageAllocator

ORDERS: list[Order] = ["lifo", "fifo", "random"]


def allocator(pages: int, order: Order = "lifo", seed: int = 0) -> PageAllocator:
    return PageAllocator(pages, order, random.Random(seed))


@pytest.mark.parametrize("order", ORDERS)
def test_page_0_is_never_handed_out(order: Order) -> None:
    assert sorted(allocator(5, order).allocate(5)) == [1, 2, 3, 4, 5]


def test_lifo_hands_out_the_page_freed_last() -> None:
    pool = allocator(4, "lifo")
    assert pool.allocate(3) == [1, 2, 3]
    pool.free([1, 3])
    assert pool.allocate(3) == [3, 1, 4]


def test_fifo_hands_out_the_page_freed_first() -> None:
    pool = allocator(4, "fifo")
    assert pool.allocate(3) == [1, 2, 3]
    pool.free([3, 1])
    assert pool.allocate(3) == [4, 3, 1]


def test_random_order_is_its_seeds() -> None:
    once, again, other = (allocator(32, "random", seed).allocate(32) for seed in (1, 1, 2))
    assert once == again != other


@pytest.mark.parametrize("order", ["mru", "random"])
def test_an_order_that_cannot_be_is_refused(order: Order) -> None:
    with pytest.raises(ConfigError, match="accepted: lifo, fifo, random"):
        PageAllocator(4, order, rng=None)


@pytest.mark.parametrize("page", [0, 2, 5, -1])
def test_a_page_that_nobody_holds_cannot_be_freed(page: int) -> None:
    pool = allocator(4)
    pool.allocate(1)
    with pytest.raises(PoolError, match=f"page {page} "):
        pool.free([page])


def test_a_page_cannot_be_freed_twice_in_one_call() -> None:
    pool = allocator(4)
    pool.allocate(2)
    with pytest.raises(PoolError, match="page 2 "):
        pool.free([1, 2, 2])


def test_a_refused_allocation_takes_nothing() -> None:
    pool = allocator(4)
    for n in (5, -1):
        with pytest.raises(PoolError):
            pool.allocate(n)
    assert pool.available == 4


def test_a_page_has_a_generation_for_each_time_that_it_was_handed_out() -> None:
    pool = allocator(2, "fifo")
    assert [pool.generation_of(page) for page in (1, 2)] == [0, 0]
    [page] = pool.allocate(1)
    pool.free([page])
    assert pool.generation_of(page) == 1
    pool.allocate(2)
    assert [pool.generation_of(page) for page in (1, 2)] == [2, 1]


@pytest.mark.parametrize("page", [0, -1, 3])
def test_a_page_that_is_reserved_or_foreign_has_no_generation(page: int) -> None:
    pool = allocator(2)
    pool.allocate(2)
    assert pool.generation_of(page) == 0


def test_whoever_listens_hears_of_pages_that_nobody_holds_any_more() -> None:
    heard: list[list[int]] = []
    pool = PageAllocator(4, on_free=lambda pages: heard.append([*pages]))
    pool.allocate(4)
    pool.free([2, 3])
    pool.free([])
    assert heard == [[2, 3]]


def test_whoever_listens_hears_of_pages_once_they_are_handed_out() -> None:
    heard: list[list[int]] = []
    pool = PageAllocator(4, on_take=lambda pages: heard.append([*pages]))
    pages = pool.allocate(2)
    pool.allocate(0)
    assert heard == [pages]
    assert pool.generation_of(pages[0]) == 1


def test_a_freed_page_is_heard_of_before_it_can_be_handed_out() -> None:
    held: list[bool] = []
    pool = PageAllocator(4, on_free=lambda pages: held.append(pool.holds(pages[0])))
    pool.free(pool.allocate(1))
    assert held == [False]


class AllocatorModel(RuleBasedStateMachine):
    """The allocator beside a list of what is held."""

    @initialize(pages=st.integers(1, 12), order=st.sampled_from(ORDERS), seed=st.integers(0, 9))
    def start(self, pages: int, order: Order, seed: int) -> None:
        self.pool = allocator(pages, order, seed)
        self.held: list[int] = []

    @rule(n=st.integers(0, 5))
    def allocate(self, n: int) -> None:
        if not self.pool.can_allocate(n):
            with pytest.raises(PoolError):
                self.pool.allocate(n)
            return
        pages = self.pool.allocate(n)
        assert len(pages) == n
        assert not [page for page in pages if page in self.held]
        self.held += pages

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        pages = data.draw(st.lists(st.sampled_from(self.held), unique=True))
        self.pool.free(pages)
        self.held = [page for page in self.held if page not in pages]

    @invariant()
    def every_page_is_free_or_held(self) -> None:
        assert sorted([*self.pool.free_pages(), *self.held]) == list(range(1, self.pool.pages + 1))
        assert self.pool.available == self.pool.pages - len(self.held)
        assert all(self.pool.holds(page) for page in self.held)


TestAllocatorModel = AllocatorModel.TestCase

"""Whoever listens to the books hears whose pages come free, and that a step was processed."""

from __future__ import annotations

from collections.abc import Sequence

from engine.cache.radix import RadixCache
from engine.config import PAGE_TOKENS
from engine.events import EventLog
from engine.pools.allocator import PageAllocator
from engine.request import Request
from engine.sched.holdings import CACHE, Holdings


class Heard:
    """Holdings over four pages; ``freed`` says whose pages came free, in order, and how many."""

    def __init__(self) -> None:
        self.freed: list[tuple[str, int]] = []
        self.pool = PageAllocator(4, on_free=self._free)
        cache = RadixCache(PAGE_TOKENS, self.pool)
        self.held = Holdings(self.pool, cache, 4, EventLog(lambda: 0))

    def _free(self, pages: Sequence[int]) -> None:
        self.freed.append((self.held.freeing, len(pages)))

    def request(self, number: int, byte: int, pages: int) -> Request:
        """An admitted request, the KV of its tokens written."""
        req = Request(number, [byte] * PAGE_TOKENS * pages, 9)
        assert self.held.acquire(req)
        req.kv_len = req.n_tokens
        return req


def test_what_a_request_gives_back_is_freed_by_it() -> None:
    it = Heard()
    req = it.request(7, 1, 2)
    req.kv_len = PAGE_TOKENS
    it.held.release(req)
    assert it.freed == [("request 7", 1)]  # the other page is the cache's


def test_a_prefix_that_another_computed_too_is_freed_by_who_ends_later() -> None:
    it = Heard()
    one, two = it.request(7, 1, 1), it.request(8, 1, 1)
    it.held.release(one)
    assert it.freed == []
    it.held.release(two)
    assert it.freed == [("request 8", 1)]


def test_what_is_evicted_is_freed_by_the_cache_whoever_was_the_last_to_give_back() -> None:
    it = Heard()
    it.held.release(it.request(7, 1, 3))
    it.request(8, 2, 3)
    assert {who for who, _ in it.freed} == {CACHE}
    assert sum(pages for _, pages in it.freed) >= 2


def test_a_processed_step_is_heard_of_once() -> None:
    it, heard = Heard(), []
    it.held.on_finish = lambda: heard.append("a step")
    it.held.finished()
    assert heard == ["a step"]


def test_without_a_listener_a_step_is_processed_all_the_same() -> None:
    Heard().held.finished()

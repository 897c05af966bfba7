"""A request offers and frees only what is still its own; what the host gives is the cache's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from engine.cache.prefix import Match
from engine.cache.radix import RadixCache
from engine.config import PAGE_TOKENS
from engine.events import EventLog
from engine.pools.allocator import PageAllocator
from engine.request import Request
from engine.sched.holdings import Holdings
from engine.sched.questions import PinnedFirst

if TYPE_CHECKING:
    from engine.cache.prefix import PrefixCache
    from engine.sched.questions import Fill

PAGES = 8


class Books:
    """Holdings over a pool of eight pages."""

    def __init__(self, cache: type[RadixCache] = RadixCache) -> None:
        self.pool = PageAllocator(PAGES, "fifo")
        self.cache = cache(PAGE_TOKENS, self.pool)
        self.pin = Noted()
        self.held = Holdings(self.pool, self.cache, 4, EventLog(lambda: 0), self.pin)
        self.requests = 0

    def request(self, letters: str, kv_len: int | None = None) -> Request:
        """An admitted request of one page a letter, and one token more; all written."""
        self.requests += 1
        prompt = [ord(letter) for letter in letters for _ in range(PAGE_TOKENS)]
        req = Request(self.requests, [*prompt, 0], 9)
        assert self.held.acquire(req)
        req.kv_len = req.n_tokens if kv_len is None else kv_len
        return req

    def steal(self, page: int) -> None:
        """The page is freed behind its holder's back and handed to somebody else."""
        self.pool.free([page])
        while self.pool.allocate(1) != [page]:
            pass

    @property
    def accounted(self) -> int:
        return self.pool.available + self.cache.cached_pages


class Noted(PinnedFirst):
    """Remembers whether the prefix was pinned while room was made."""

    def __init__(self) -> None:
        self.pins: list[int] = []

    def hold(self, cache: PrefixCache, match: Match, fill: Fill) -> tuple[Match, list[int]] | None:
        def watched(match: Match) -> tuple[Match, list[int]] | None:
            self.pins.append(match.node.pins)
            return fill(match)

        return super().hold(cache, match, watched)


class FromTheHost(RadixCache):
    """A tree that restores one page more than it has on the device, where it is asked for."""

    restored: tuple[int, ...] = ()

    def match(self, tokens: list[int]) -> Match:  # type: ignore[override]
        return super().match(tokens)._replace(host_pages=1)

    def load_back(self, match: Match, take: Callable[[int], list[int]]) -> Match:
        pages = take(1)
        at = len(match.pages) * PAGE_TOKENS
        path = [*self.tokens_of(match), *self.wanted[at : at + PAGE_TOKENS]]
        node, _ = self.insert(path, match.pages + pages)
        self.restored += tuple(pages)
        return Match(match.pages + pages, node)

    def tokens_of(self, match: Match) -> list[int]:
        return self.wanted[: len(match.pages) * PAGE_TOKENS]

    wanted: list[int]


@pytest.fixture
def books() -> Books:
    return Books()


def test_a_request_remembers_the_generation_of_each_page_it_is_given(books: Books) -> None:
    books.held.release(books.request("ab"))
    req = books.request("ac")  # page a from the cache, then pages of its own
    assert req.takes == [books.pool.generation_of(page) for page in req.pages]
    books.held.grow(req)
    assert len(req.takes) == len(req.pages) == 4
    assert req.takes[-1] == books.pool.generation_of(req.pages[-1])


def test_a_prefix_is_pinned_while_room_is_made_beside_it(books: Books) -> None:
    books.held.release(books.request("a"))
    books.request("ab")
    assert books.pin.pins[-1] == 1


def test_a_refused_admission_leaves_no_pin_and_takes_nothing(books: Books) -> None:
    books.held.release(books.request("a"))
    books.request("uvwxy")
    before = books.pool.available
    assert not books.held.acquire(Request(9, [ord("a")] * PAGE_TOKENS * 5, 9))
    assert books.pool.available == before
    assert books.cache.evictable_pages == 1
    assert books.held.slots.available == 3


def test_a_request_frees_what_it_did_not_fill(books: Books) -> None:
    books.held.release(books.request("ab", kv_len=300))
    assert (books.cache.cached_pages, books.pool.available) == (1, PAGES - 1)


@pytest.mark.parametrize("stolen", range(3))
def test_a_request_publishes_only_up_to_the_page_that_it_lost(books: Books, stolen: int) -> None:
    req = books.request("abc")
    books.steal(req.pages[stolen])
    books.held.publish(req, req.kv_len)
    assert books.cache.cached_pages == stolen


@pytest.mark.parametrize("stolen", range(4))
def test_a_page_that_a_request_lost_is_neither_cached_nor_freed(books: Books, stolen: int) -> None:
    req = books.request("abc")
    page = req.pages[stolen]
    books.steal(page)
    held = books.accounted
    books.held.release(req)
    assert books.pool.holds(page)
    assert books.cache.owner_of(page) is None
    assert books.accounted == held + 3  # its other pages came back, cached or free


def test_a_page_that_is_already_free_is_not_freed_again(books: Books) -> None:
    req = books.request("abc")
    books.pool.free(req.pages[-2:])
    books.held.release(req)
    assert books.accounted == PAGES


def test_what_a_request_published_before_it_lost_a_page_stays_the_cache_s(books: Books) -> None:
    req = books.request("abc")
    books.held.publish(req, req.kv_len)
    books.pool.generations[req.pages[0]] += 1  # taken over where it is, as by a stray load
    books.held.release(req)
    assert books.cache.cached_pages == 3
    assert books.accounted == PAGES
    assert books.cache.check() == []


def test_the_pages_of_two_who_computed_one_prefix_are_all_accounted_for(books: Books) -> None:
    one, two = books.request("ab"), books.request("ab")
    for req in (one, two):
        books.held.publish(req, req.kv_len)
    assert one.pages[:2] != two.pages[:2]
    assert books.cache.cached_pages == 2
    for req in (two, one):
        books.held.release(req)
    assert books.accounted == PAGES
    assert books.cache.check() == []


def test_stale_users_are_those_who_were_given_an_older_generation(books: Books) -> None:
    one, two = books.request("ab"), books.request("c")
    lost, kept = one.pages[0], two.pages[0]
    books.steal(lost)
    users = books.held.stale_users([lost, kept], [one, two])
    assert users == [("request 1", lost)]


def test_nobody_is_stale_on_pages_that_were_not_asked_about(books: Books) -> None:
    one = books.request("ab")
    books.steal(one.pages[0])
    assert books.held.stale_users([one.pages[1]], [one]) == []


@pytest.fixture
def with_host() -> Books:
    books = Books(FromTheHost)
    assert isinstance(books.cache, FromTheHost)
    books.cache.wanted = [ord(letter) for letter in "abc" for _ in range(PAGE_TOKENS)]
    return books


def test_what_the_host_gave_is_not_computed_and_is_counted(with_host: Books) -> None:
    req = Request(1, [*with_host.cache.wanted, 0], 9)  # type: ignore[attr-defined]
    assert with_host.held.acquire(req)
    assert (req.kv_len, req.host_tokens, len(req.pages)) == (PAGE_TOKENS, PAGE_TOKENS, 4)
    assert req.takes == [with_host.pool.generation_of(page) for page in req.pages]


def test_restored_pages_are_told_once_to_the_step_that_waits_for_them(with_host: Books) -> None:
    req = with_host.request("abc")
    assert with_host.held.take_restored() == req.pages[:1]
    assert with_host.held.take_restored() == []


def test_what_the_host_gave_is_the_cache_s_and_pinned_by_the_request(with_host: Books) -> None:
    req = with_host.request("abc")
    assert with_host.held.owner_of(req.pages[0]) == "cache"
    assert with_host.held.owner_of(req.pages[1]) == f"request {req.id}"
    assert with_host.cache.evictable_pages == 0
    with_host.held.release(req)
    assert with_host.accounted == PAGES


def test_a_request_that_cannot_have_its_other_pages_restores_nothing(with_host: Books) -> None:
    other = with_host.request("abc")
    with_host.held.take_restored()
    assert not with_host.held.acquire(Request(9, [5] * PAGE_TOKENS * 5, 9))
    assert with_host.held.take_restored() == []
    assert with_host.cache.restored == (other.pages[0],)  # type: ignore[attr-defined]

"""A page's generation tells a new owner from one that only left the page to the cache."""

from __future__ import annotations

from tests.engine.sched.fakes import Bench, prompt


def test_a_page_keeps_its_generation_when_its_request_leaves_it_to_the_cache() -> None:
    bench = Bench()
    req = bench.add(prompt(1, 300), max_tokens=1)
    bench.step()
    bench.drain()
    [page] = [page for page in range(1, 13) if bench.sched.owner_of(page) == "cache"]
    assert req.done
    assert bench.sched.generation_of(page) == 1


def test_a_page_that_is_found_in_the_cache_keeps_its_generation() -> None:
    bench = Bench()
    for _ in range(2):
        bench.add(prompt(1, 300), max_tokens=1)
        bench.drain()
    assert bench.count("prefix_hits") == 1
    [page] = [page for page in range(1, 13) if bench.sched.owner_of(page) == "cache"]
    assert bench.sched.generation_of(page) == 1


def test_a_page_that_is_taken_anew_has_a_new_generation_whoever_takes_it() -> None:
    bench = Bench(radix=False)
    for _ in range(2):
        bench.add(prompt(1, 200), max_tokens=1)
        bench.drain()
    assert [bench.sched.generation_of(page) for page in (1, 2)] == [2, 0]


def test_reserved_and_foreign_pages_have_no_generation() -> None:
    sched = Bench(pages=4).sched
    assert [sched.generation_of(page) for page in (-1, 0, 5)] == [0, 0, 0]

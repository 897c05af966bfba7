"""host_page_reused_before_load_ack: the source of a restore becomes another prefix's copy."""

from __future__ import annotations

import pytest

from engine.cache.questions import CacheQuestions
from engine.defects.host_page_reused_before_load_ack import OnceOnTheDevice
from tests.engine.cache.two_tiers import Reader, World


def restore_under_pressure(ask: CacheQuestions) -> tuple[World, Reader]:
    """`abc` is on its way back when `z` must leave, on a host that is full of it."""
    world = World(pages=6, host_pages=3, policy="write_back", ask=ask)
    world.serve("abc")
    world.cache.evict(3)
    world.serve("xyz")
    reader = world.admit("abc")
    assert reader is not None
    step = world.launch([reader])
    world.match("q")  # somebody else asks for something
    world.cache.evict(1)
    world.work(step)
    world.finish(step)
    return world, reader


def test_the_rest_of_a_restored_prefix_is_what_took_its_host_pages() -> None:
    world, reader = restore_under_pressure(CacheQuestions(host_reuse=OnceOnTheDevice()))
    assert world.count("host_copies_reclaimed") == 3
    first, last = ([world.device.read(page)[at] for page in reader.pages] for at in (0, -1))
    assert first == ["a", "ab", "abc"]  # it had arrived when the host page was given on
    assert "xyz" in last and world.wrong


def test_the_same_pressure_finds_no_room_on_a_healthy_build() -> None:
    world, _ = restore_under_pressure(CacheQuestions())
    assert world.count("backups_refused") == 1
    world.check()


@pytest.mark.parametrize("healthy", [True, False])
def test_the_books_balance_either_way(healthy: bool) -> None:
    ask = CacheQuestions() if healthy else CacheQuestions(host_reuse=OnceOnTheDevice())
    world, reader = restore_under_pressure(ask)
    world.release(reader)
    world.settle()
    assert world.cache.check() == []
    assert world.cache.evictable_pages == world.cache.cached_pages

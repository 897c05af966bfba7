"""evicted_though_backup_failed: a prefix that found no room on the host is restored from there."""

from __future__ import annotations

from engine.cache.questions import CacheQuestions
from engine.defects.evicted_though_backup_failed import RESERVED, EvictedAnyway
from tests.engine.cache.two_tiers import World

BROKEN = CacheQuestions(backup_refusal=EvictedAnyway())


def evicted(ask: CacheQuestions, host_pages: int) -> World:
    """Three pages that must leave the device."""
    world = World(host_pages=host_pages, policy="write_back", ask=ask)
    world.serve("abc")
    assert world.cache.evict(3) == 3
    return world


def test_the_prefix_is_found_on_host_pages_that_nobody_wrote() -> None:
    world = evicted(BROKEN, host_pages=2)
    match = world.match("abc")
    assert match.host_node is not None and match.host_node.host == [RESERVED] * 3
    world.serve("abc")
    assert world.wrong
    assert world.cache.check() == []  # the books know nothing of it


def test_it_stays_on_the_host_that_never_had_it() -> None:
    world = evicted(BROKEN, host_pages=2)
    world.serve("abc")
    world.cache.evict(3)
    assert world.match("abc").host_pages == 3
    assert world.count("pages_backed_up") == 0


def test_a_healthy_build_forgets_what_is_on_no_tier() -> None:
    world = evicted(CacheQuestions(), host_pages=2)
    assert world.match("abc").host_pages == 0
    world.serve("abc")
    world.check()


def test_with_room_on_the_host_nothing_is_refused_and_nothing_wrong() -> None:
    world = evicted(BROKEN, host_pages=3)
    world.serve("abc")
    world.check()
    assert (world.count("backups_refused"), world.count("pages_restored")) == (0, 3)

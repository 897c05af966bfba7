"""A prefix leaves the device, stays on the host and comes back; what is in motion stays put."""

from __future__ import annotations

import pytest

from engine.cache.prefix import Match
from engine.cache.tiers import HostPage
from engine.cache.write_policy import Name
from tests.engine.cache.two_tiers import World, text


def restored(world: World, prefix: str) -> Match:
    """The prefix, brought back for nobody in particular."""
    match = world.match(prefix)
    world.cache.pin(match.node)
    longer = world.cache.load_back(match, world.take)
    world.cache.unpin(match.node)
    return longer


def host_of(world: World, prefix: str) -> list[HostPage]:
    """The host pages of the node that ends a prefix."""
    match = world.match(prefix)
    return (match.host_node or match.node).host


def test_a_new_prefix_is_copied_at_once_under_write_through() -> None:
    world = World(policy="write_through")
    world.serve("abc")
    assert world.count("pages_backed_up") == 3
    world.check()


def test_a_prefix_is_copied_when_it_was_found_again_under_write_through_selective() -> None:
    world = World(policy="write_through_selective")
    world.serve("abc")
    assert world.count("pages_backed_up") == 0
    world.serve("abd")
    assert world.count("pages_backed_up") == 2  # the `ab` that both share
    world.check()


def test_a_prefix_is_copied_when_it_must_leave_under_write_back() -> None:
    world = World(policy="write_back")
    world.serve("abc")
    assert world.count("pages_backed_up") == 0
    assert world.cache.evict(2) == 2
    assert world.count("pages_backed_up") == 2
    assert world.control.stall_s() == 2.0
    world.check()


def test_an_evicted_prefix_is_a_host_match_below_what_is_left() -> None:
    world = World()
    world.serve("abc")
    assert world.cache.evict(2) == 2
    match = world.match("abcd")
    assert len(match.pages) == 1 and match.host_pages == 2
    assert match.host_node is not None and match.host_node.evicted
    assert not match.node.evicted
    world.check()


def test_a_match_with_nothing_on_the_host_names_nothing_there() -> None:
    world = World()
    world.serve("abc")
    match = world.match("abc")
    assert (len(match.pages), match.host_node, match.host_pages) == (3, None, 0)


@pytest.mark.parametrize("policy", ["write_through", "write_through_selective", "write_back"])
def test_a_cleared_tree_has_nothing_on_either_tier(policy: Name) -> None:
    world = World(policy=policy)
    world.serve("abc")
    world.serve("abd")
    world.cache.evict(1)
    assert world.cache.clear()
    match = world.match("abcd")
    assert (match.pages, match.host_pages) == ([], 0)
    assert (world.pool.available, world.tier.available) == (world.pages, world.host_pages)
    world.check()
    world.serve("abd")
    world.check()


def test_a_restored_prefix_holds_what_it_held() -> None:
    world = World(pages=4)
    world.serve("abcd")
    world.serve("xyxy")  # in every page that there is
    assert world.match("abcd").host_pages == 4
    world.serve("abcd")
    assert world.count("pages_restored") == 4
    world.check()


def test_all_of_a_prefix_comes_back_or_nothing() -> None:
    world = World(pages=4)
    world.serve("abcd")
    world.cache.evict(3)
    held = world.pool.allocate(1)
    match = world.match("abcd")
    world.cache.pin(match.node)
    assert world.cache.load_back(match, world.take) is match
    assert world.count("load_backs_refused") == 1
    world.cache.unpin(match.node)
    world.pool.free(held)
    world.check()
    assert world.cache.evictable_pages == 1


def test_a_match_whose_host_pages_are_gone_restores_nothing() -> None:
    world = World(host_pages=3)
    world.serve("abc")
    world.cache.evict(3)
    match = world.match("abc")
    world.serve("xy")  # needs two of the three host pages
    assert world.cache.load_back(match, world.take) is match
    world.check()


def test_a_match_whose_pages_left_the_device_restores_nothing() -> None:
    world = World()
    world.serve("abc")
    world.cache.evict(1)
    match = world.match("abc")
    world.cache.evict(2)
    assert world.cache.load_back(match, world.take) is match
    world.check()


def test_a_node_on_its_way_to_the_host_does_not_leave_the_device() -> None:
    world = World()
    world.serve("abc", settle=False)
    assert world.cache.evictable_pages == world.cache.evict(9) == 0
    world.settle()
    assert world.cache.evict(9) == 3


def test_both_parts_of_a_node_split_on_its_way_to_the_host_are_let_go() -> None:
    world = World()
    world.serve("abc", settle=False)
    assert len(world.match("ab").pages) == 2  # splits it
    assert world.cache.evict(9) == 0
    world.settle()
    world.check()
    assert world.cache.evict(9) == 3
    assert world.match("abc").host_pages == 3


def test_both_parts_of_a_node_split_while_it_is_restored_are_let_go() -> None:
    world = World(pages=4)
    world.serve("abcd")
    world.cache.evict(4)
    restored(world, "abcd")
    world.cache.launched()
    world.match("ab")
    assert world.cache.evictable_pages == 0
    world.settle()
    world.check()
    assert world.cache.evictable_pages == 4


def test_a_prefix_being_restored_keeps_its_pages_on_both_tiers() -> None:
    world = World(pages=8, host_pages=4)
    world.serve("abcd")
    world.cache.evict(4)
    restored(world, "abcd")
    world.cache.launched()
    world.serve("xyxy", settle=False)
    assert world.count("backups_refused")
    assert world.cache.evict(8) == 4
    world.settle()
    world.check()


def test_a_prefix_that_comes_back_keeps_its_host_pages_while_room_is_made_for_it() -> None:
    world = World(pages=6, host_pages=4, policy="write_back")
    world.serve("abc")
    world.cache.evict(3)
    match = world.match("abc")
    for other in ("xyx", "zzz"):  # used later than the match
        world.serve(other)
    world.cache.pin(match.node)
    assert len(world.cache.load_back(match, world.take).pages) == 3
    assert world.count("backups_refused") == 1  # one host page was left for the three that leave
    world.cache.unpin(match.node)
    world.cache.launched()
    world.settle()
    world.check()


def test_a_prefix_computed_again_is_the_trees_again() -> None:
    world = World()
    world.serve("abc")
    world.cache.evict(2)
    mine = world.pool.allocate(3)
    for i, page in enumerate(mine):
        for layer in range(4):
            world.device.write(page, layer, "abc"[: i + 1])
    _, duplicates = world.cache.insert(text("abc"), mine)
    assert duplicates == mine[:1]
    assert len(host_of(world, "abc")) == 2  # and has its copy still
    world.pool.free(duplicates)
    world.check()


def test_pages_computed_beside_a_restore_in_flight_are_duplicates() -> None:
    world = World()
    world.serve("ab")
    world.cache.evict(2)
    other = world.admit("ab", restore=False)
    assert other is not None
    pages = restored(world, "ab").pages
    step = world.launch([other])
    world.work(step)
    assert world.cache.insert(text("ab"), other.pages).duplicates == other.pages
    assert [world.cache.owner_of(page) is not None for page in pages] == [True, True]
    world.finish(step)
    world.release(other)
    world.settle()
    world.check()


def test_a_prefix_that_finds_no_room_on_the_host_is_forgotten_and_its_pages_are_free() -> None:
    world = World(host_pages=1, policy="write_back")
    world.serve("abc")
    assert world.cache.evict(3) == 3
    assert world.match("abc") == (Match([], world.match("x").node))
    assert world.count("backups_refused") == 1
    world.check()


def test_what_the_host_has_below_a_forgotten_prefix_is_free() -> None:
    world = World(host_pages=2, policy="write_back")
    world.serve("abcd")
    assert world.cache.evict(1) == 1  # d is on the host
    assert world.cache.evict(3) == 3  # abc finds no room, and d continues nothing now
    assert world.tier.available == 2
    world.check()


def test_write_back_gives_up_second_copies_before_the_only_ones() -> None:
    world = World(host_pages=4, policy="write_back")
    for prefix in ("ab", "xy"):
        world.serve(prefix)
    world.cache.evict(4)
    world.serve("ab")  # its copy is a second one now
    world.serve("zz")
    world.match("ab")
    world.match("q")  # ab is not what was used last
    world.cache.evict(2)  # zz goes: it needs two host pages
    assert world.count("host_copies_reclaimed") == 2
    assert world.match("xy").host_pages == 2
    world.check()


def test_write_through_gives_up_the_oldest_evicted_leaf_before_second_copies() -> None:
    world = World(host_pages=4)
    for prefix in ("ab", "xy"):
        world.serve(prefix)
    world.cache.evict(2)  # ab
    world.serve("zz")
    assert world.match("ab") == Match([], world.match("q").node)
    assert len(host_of(world, "xy")) == 2
    assert (world.count("host_evicted_pages"), world.count("host_copies_reclaimed")) == (2, 0)
    world.check()


def test_an_evicted_leaf_gives_up_its_last_pages_first() -> None:
    world = World(host_pages=5)
    world.serve("abcd")
    world.cache.evict(4)
    world.serve("xy")
    assert world.match("abcd").host_pages == 3
    world.check()


def test_what_is_copied_does_not_push_out_what_it_continues() -> None:
    world = World(host_pages=2)
    world.serve("ab")
    world.serve("abcd")
    assert len(host_of(world, "ab")) == 2
    assert world.count("backups_refused")
    world.check()


@pytest.mark.parametrize("policy", ["write_through", "write_back"])
def test_counts_and_events_say_what_moved(policy: str) -> None:
    world = World(policy=policy)  # type: ignore[arg-type]
    world.serve("abc")
    world.cache.evict(2)
    world.serve("abc")
    kinds = [event.kind for event in world.events.events]
    assert [kinds.count(kind) for kind in ("backup", "evict", "restore")] == [1, 1, 1]
    assert world.count("pages_restored") == 2

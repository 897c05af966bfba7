"""The host tier hands out pages in pairs, copies in stages, and sees what changes meanwhile."""

from __future__ import annotations

import pytest

from engine.cache.tiers import HostPage
from engine.errors import PoolError
from engine.runner import step_cost
from tests.engine.pools.mirrored import POOLS, Tiers, differing


def test_host_pages_are_device_pages_by_the_ratio() -> None:
    assert Tiers(pool_pages=6, host_ratio=1.5).host.pages == 9


def test_the_sliding_window_has_indices_of_its_own() -> None:
    host = Tiers(pool_pages=16).take(32)
    assert [page.anchor for page in host] == list(range(1, 33))
    assert sorted(page.swa for page in host) == list(range(1, 33))
    assert [page.swa for page in host] != [page.anchor for page in host]


def test_one_seed_gives_one_order_of_host_pages() -> None:
    once, again, other = (Tiers(pool_pages=16, seed=seed).take(32) for seed in (1, 1, 2))
    assert once == again != other


def test_host_pages_are_given_all_or_none() -> None:
    host = Tiers(pool_pages=2, host_ratio=1.5).host
    assert host.allocate(4) is None
    assert host.available == 3
    assert host.allocate(0) == []


def test_what_is_given_back_can_be_had_again() -> None:
    tiers = Tiers()
    pages = tiers.take(12)
    assert tiers.host.available == 0
    tiers.host.free(pages)
    assert tiers.host.available == 12


def test_the_reserved_page_is_passed_over_when_freed() -> None:
    tiers = Tiers()
    tiers.host.free([HostPage(0, 0), *tiers.take(1)])
    assert tiers.host.available == tiers.host.pages


def test_a_host_page_cannot_be_freed_twice() -> None:
    tiers = Tiers()
    pages = tiers.take(1)
    tiers.host.free(pages)
    with pytest.raises(PoolError):
        tiers.host.free(pages)


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
def test_copies_are_as_long_as_production_s(index_k: str) -> None:
    tiers = Tiers(index_k=index_k)
    page = step_cost.page_bytes(index_k)
    assert page == 43 * 149_760 + 20 * 1_728 + 21 * (
        37_440 + {"fp8": 8_448, "bf16": 16_384}[index_k] + 65_536 + 16_384
    )
    host = tiers.take(3)
    assert [stage.nbytes for stage in tiers.host.backup([1, 2, 3], host)] == [3 * page]
    assert [stage.nbytes for stage in tiers.host.load(host, [4, 5, 6])] == [3 * page / 4] * 4


def test_a_stage_of_a_load_brings_what_its_layer_reads() -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    before, host = tiers.bytes_of(1), tiers.back_up([1])
    missing = []
    for stage in tiers.host.load(host, [5]):
        stage.move()
        missing.append(differing(before, tiers.bytes_of(5)))
    assert missing == [POOLS, POOLS, [name for name in POOLS if name != "c128"], []]


def test_a_host_page_handed_on_under_a_load_is_seen_once() -> None:
    tiers = Tiers(pool_pages=2, host_ratio=1)
    host = tiers.back_up([1])
    stages = tiers.host.load(host, [2])
    stages[0].move()
    assert tiers.counted("violation:") == {}
    tiers.host.free(host)
    assert tiers.take(2)  # everything: its page is among them
    for stage in stages[1:]:
        stage.move()
    assert tiers.counted("violation:") == {"violation:host_page_changed_under_load": 1}
    last = tiers.events.events[-1].fields
    assert (last["host_page"], last["page"]) == (host[0].anchor, 2)


def test_a_host_page_that_is_only_free_has_not_changed() -> None:
    tiers = Tiers()
    host = tiers.back_up([1])
    stages = tiers.host.load(host, [2])
    tiers.host.free(host)
    for stage in stages:
        stage.move()
    assert tiers.counted("violation:") == {}


@pytest.mark.parametrize("how", ["reserved", "never written", "written before it was freed"])
def test_a_load_of_a_page_that_no_backup_filled_is_seen(how: str) -> None:
    tiers = Tiers(pool_pages=2, host_ratio=1)
    host = [HostPage(0, 0)]
    if how == "never written":
        host = tiers.take(1)
    if how == "written before it was freed":
        tiers.host.free(tiers.back_up([1, 2]))
        host = tiers.take(1)
    tiers.restore(host, [2])
    assert tiers.counted("violation:host_hit") == {"violation:host_hit_on_unwritten_page": 1}
    assert tiers.events.events[0].fields["host_page"] == host[0].anchor


def test_a_load_into_a_page_that_somebody_uses_names_the_victim_once() -> None:
    tiers = Tiers()
    host = tiers.back_up([1, 2])
    stages = tiers.host.load(host, [4, 5])
    tiers.users.stale = [("request 7", 5)]
    for stage in stages:
        stage.move()
    assert tiers.counted("violation:") == {"violation:load_wrote_page_in_use": 1}
    fields = tiers.events.events[-1].fields
    assert (fields["victim"], fields["page"], fields["host_page"]) == (
        "request 7",
        5,
        host[1].anchor,
    )

"""The host tier hands out pages in pairs, copies in stages, and sees what changes meanwhile."""

from __future__ import annotations

import pytest

from engine.cache.tiers import HostPage
from engine.errors import PoolError
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
    c4 = 37_440 + {"fp8": 8_448, "bf16": 16_384}[index_k] + 65_536 + 16_384
    host = tiers.take(3)
    [whole] = tiers.host.backup([1, 2, 3], host)
    assert whole.nbytes == 3 * (43 * 149_760 + 20 * 1_728 + 21 * c4)
    assert sum(stage.nbytes for stage in tiers.host.load(host, [4, 5, 6])) == whole.nbytes


def test_a_stage_of_a_load_is_as_long_as_what_it_brings() -> None:
    tiers = Tiers()
    window = 43 * 149_760 / 4
    compressed = [0, 0, 20 * 1_728, 21 * (37_440 + 8_448 + 65_536 + 16_384)]
    stages = tiers.host.load(tiers.take(2), [4, 5])
    assert [stage.nbytes for stage in stages] == [2 * (window + more) for more in compressed]


def test_a_mirror_too_small_for_its_rows_moves_as_much_as_it_has() -> None:
    sound, small = (Tiers(index_k="bf16", build=b) for b in ((), ("host_mirror_sized_as_fp8",)))
    [whole], [part] = (tiers.host.backup([1], tiers.take(1)) for tiers in (sound, small))
    assert whole.nbytes - part.nbytes == 21 * (16_384 - 8_448)


def test_a_stage_of_a_load_brings_what_its_layer_reads() -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    before, host = tiers.bytes_of(1), tiers.back_up([1])
    missing = []
    for stage in tiers.host.load(host, [5]):
        stage.move()
        missing.append(differing(before, tiers.bytes_of(5)))
    assert missing == [POOLS, POOLS, [name for name in POOLS if name != "c128"], []]

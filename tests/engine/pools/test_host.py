"""Which path a copy takes, and that each path brings every byte."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.errors import PoolError
from tests.engine.pools.mirrored import PAIRS, POOLS, Tiers, differing

BRANCHES = {
    ("layer_first", "kernel"): ("all_layer_mla", "per_layer_mla"),
    ("page_first", "kernel"): ("all_layer_lf_pf", "per_layer_pf_lf"),
    ("layer_first", "direct"): ("direct_lf", "direct_lf"),
    ("page_first_direct", "direct"): ("direct_lf_pf", "direct_pf_lf"),
}


class Cut:
    """Three quarters of a page, then the last."""

    def pieces(self, pool: object) -> list[tuple[int, int]]:
        return [(0, 192), (192, 256)]


@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_whole_pages_take_the_page_branch_of_their_layout_and_io(layout: str, io: str) -> None:
    tiers = Tiers(hicache_layout=layout, hicache_io=io)
    backup, load = BRANCHES[layout, io]
    tiers.restore(tiers.back_up([1, 2]), [3, 4])
    layers = {"swa": 4}
    calls = {f"path:{pool}:backup:{backup}:{layout}": 1 for pool in POOLS}
    calls |= {f"path:{pool}:load:{load}:{layout}": layers.get(pool, 1) for pool in POOLS}
    assert tiers.counted("path:") == calls
    rows = {f"path_rows:{pool}:load:{load}:{layout}": 2 * layers.get(pool, 1) for pool in POOLS}
    assert {k: n for k, n in tiers.counted("path_rows:").items() if ":load:" in k} == rows


@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_every_path_has_a_counter_from_the_start(layout: str, io: str) -> None:
    counters = Tiers(hicache_layout=layout, hicache_io=io).events.counters
    backup, load = BRANCHES[layout, io]
    for pool in POOLS:
        for path in (f"backup:{backup}", "backup:token_granular", f"load:{load}"):
            assert counters[f"path:{pool}:{path}:{layout}"] == 0
            assert counters[f"path_rows:{pool}:{path}:{layout}"] == 0


@pytest.mark.parametrize("io", ["kernel", "direct"])
def test_cut_pages_go_by_tokens_and_bring_every_byte(io: str) -> None:
    tiers = Tiers(hicache_io=io, index_k="bf16", build=("partial_page_transfers",))
    tiers.scribble(range(7))
    before = tiers.bytes_of(1)
    host = tiers.back_up([1])
    tiers.scribble(range(7))
    tiers.restore(host, [5])
    assert differing(before, tiers.bytes_of(5)) == []
    rows = {"swa": 4 * 256, "c4": 64, "index_k": 64, "c128": 2}
    assert tiers.counted("path_rows:swa:backup:token") == {
        "path_rows:swa:backup:token_granular:layer_first": rows["swa"]
    }
    for pool, n in rows.items():
        assert tiers.counted(f"path_rows:{pool}:load:token") == {
            f"path_rows:{pool}:load:token_granular:layer_first": n
        }
    assert tiers.counted("path:c4_state:backup:token") == {}
    assert tiers.counted("violation:") == {}


def test_pieces_that_add_up_to_slot_pages_go_by_page_rows() -> None:
    tiers = Tiers(hicache_slot_page=128)
    pool = next(pool for pool in tiers.host.pools if pool.name == "index_k")
    pool.moves = replace(pool.moves, pieces=Cut())
    pool.backup(torch.tensor([1, 2]), torch.tensor([1, 2]))  # 2 x 192, 2 x 64: both divide by 128
    assert tiers.counted("path:index_k:backup") == {
        "path:index_k:backup:all_layer_mla:layer_first": 2
    }


def test_a_page_first_pool_has_no_data_pointers_and_cuts_no_page() -> None:
    tiers = Tiers(hicache_layout="page_first", build=("partial_page_transfers",))
    assert all(pool.data_ptrs is None for pool in tiers.host.pools)
    tiers.back_up([1])
    assert not [name for name in tiers.counted("path:") if "token_granular" in name]


def test_a_partial_count_without_data_pointers_is_refused() -> None:
    tiers = Tiers(hicache_layout="page_first")
    pool = next(pool for pool in tiers.host.pools if pool.name == "index_k")
    pool.moves = replace(pool.moves, pieces=Cut())
    with pytest.raises(PoolError, match=r"index_k: 48 entries .* no data pointers"):
        pool.backup(torch.tensor([1]), torch.tensor([1]))


def test_direct_copies_permute_the_device_with_the_host() -> None:
    tiers = Tiers(hicache_io="direct")
    tiers.scribble(range(7))
    pool = next(pool for pool in tiers.host.pools if pool.name == "c4")
    pool.backup(torch.tensor([1, 2, 3]), torch.tensor([9, 4, 6]))
    mirror = pool.layout.by_page(pool.buffer)
    for device, host in ((1, 9), (2, 4), (3, 6)):
        assert torch.equal(mirror[host, 0], tiers.pool("c4").layers[0].pages[device])


def test_a_load_touches_no_other_layer_and_no_other_page() -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    host = tiers.back_up([1])
    before = [tiers.bytes_of(page)["swa"] for page in range(7)]
    pool = next(pool for pool in tiers.host.pools if pool.name == "swa")
    pool.load(2, torch.tensor([host[0].swa]), torch.tensor([4]))
    after = [tiers.bytes_of(page)["swa"] for page in range(7)]
    changed = [(p, i) for p in range(7) for i in range(4) if (before[p][i] != after[p][i]).any()]
    assert changed == [(4, 2)]


def test_device_pages_that_share_bytes_are_mirrored_without_an_error() -> None:
    """A build that under-allocates index-K: the damage is an event, never an exception."""
    tiers = Tiers(index_k="bf16", build=("index_k_under_allocated",))
    tiers.scribble(range(7))
    tiers.restore(tiers.back_up([1, 2]), [4, 5])
    assert set(tiers.counted("restored_differs:")) <= {"restored_differs:index_k"}

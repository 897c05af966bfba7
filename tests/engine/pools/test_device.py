"""One page index for every pool; getters wait, stores do not, and a dirty page is NaN all over."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.config import EngineConfig
from engine.pools.device import POISON, REQUEST_ADDRESSED, DevicePools, SizedByLayout, allocate


class Asked:
    """A gate that notes who waited."""

    def __init__(self) -> None:
        self.waits: list[tuple[str, int]] = []

    def wait(self, pool: str, layer: int) -> None:
        self.waits.append((pool, layer))


@pytest.fixture
def pools() -> DevicePools:
    return allocate(EngineConfig(pool_pages=4, max_running=2), SizedByLayout())


@pytest.mark.parametrize("layer", range(4))
def test_the_window_s_getter_waits_for_its_layer(pools: DevicePools, layer: int) -> None:
    gated = replace(pools, gate=(gate := Asked()))
    assert gated.swa_key_buffer(layer) is pools.swa[layer]
    assert gate.waits == [("swa", layer)]


def test_a_compressed_pool_s_getter_waits_for_the_layer_that_reads_it(pools: DevicePools) -> None:
    gated = replace(pools, gate=(gate := Asked()))
    assert gated.c128_key_buffer() is pools.c128
    assert gated.c4_key_buffer() is pools.c4
    assert gated.index_k_buffer() is pools.index_k
    assert gate.waits == [("c128", 2), ("c4", 3), ("index_k", 3)]


def test_what_stores_take_does_not_wait(pools: DevicePools) -> None:
    gated = replace(pools, gate=(gate := Asked()))
    assert (gated.c4, gated.c128, gated.index_k) == (pools.c4, pools.c128, pools.index_k)
    assert gated.swa == pools.swa
    assert gate.waits == []


def test_poison_fills_these_pages_of_every_pool_and_no_others(pools: DevicePools) -> None:
    pools.poison([2, 4])
    for pool in pools.pools:
        if pool.name != REQUEST_ADDRESSED:
            filled = (pool.layout.by_page(pool.buffer) == POISON).flatten(1)
            assert filled.all(1).tolist() == [False, False, True, False, True], pool.name
            assert filled.any(1).tolist() == [False, False, True, False, True], pool.name


def test_poison_leaves_the_states_of_request_slots_alone(pools: DevicePools) -> None:
    pools.poison([1, 2])
    assert not pools.c128_state.any()


def test_poison_is_no_number_in_any_format() -> None:
    fill = torch.full((8,), POISON, dtype=torch.uint8)
    for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
        assert fill.view(dtype).float().isnan().all()

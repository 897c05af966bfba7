"""What a chunk weighs: Flash's layers and ours, computed as the plan computes it."""

from __future__ import annotations

import pytest

from engine.config import EngineConfig
from engine.disagg.bytes import chunk_bytes, item_bytes, layers_of, once_bytes
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.pieces import Plan, layouts_of, regions_of
from engine.errors import ConfigError
from engine.events import EventLog
from engine.pools.device import SizedByLayout, allocate
from engine.pools.layouts import FLASH_LAYERS

EITHER = pytest.mark.parametrize("index_k", ["fp8", "bf16"])
OURS = layers_of(EngineConfig().model.compress_ratios)


@pytest.mark.parametrize(("index_k", "total"), [("fp8", 31_942_656), ("bf16", 37_275_648)])
def test_a_chunk_of_8192_tokens_of_flash(index_k: str, total: int) -> None:
    assert sum(chunk_bytes(index_k, 8192, FLASH_LAYERS).values()) == total


def test_bf16_doubles_index_k_and_adds_a_sixth_to_the_chunk() -> None:
    fp8, bf16 = (chunk_bytes(dtype, 8192, FLASH_LAYERS) for dtype in ("fp8", "bf16"))
    assert bf16["index_k"] / fp8["index_k"] == pytest.approx(1.94, abs=0.01)
    assert sum(bf16.values()) / sum(fp8.values()) == pytest.approx(1.17, abs=0.01)


def test_pools_come_in_wire_order() -> None:
    assert list(chunk_bytes("fp8", 256, OURS)) == ["c4", "index_k", "c128"]


@pytest.mark.parametrize(("tokens", "pages"), [(0, 0), (1, 1), (256, 1), (257, 2)])
def test_a_page_is_sent_whole(tokens: int, pages: int) -> None:
    assert chunk_bytes("fp8", tokens, OURS)["c128"] == pages * 1_728


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(ConfigError, match="fp4"):
        chunk_bytes("fp4", 256, OURS)


@EITHER
def test_items_and_layers_are_those_of_the_pools_that_an_engine_allocates(index_k: str) -> None:
    config = EngineConfig(index_k=index_k, pool_pages=2, max_running=1)
    made = dict(layouts_of(allocate(config, SizedByLayout())))
    sizes = item_bytes(index_k)
    assert sizes.pop("aux") == MetadataBuffers(1).region.item_len
    assert sizes == {pool: layout.page_bytes for pool, layout in made.items()}
    assert layers_of(config.model.compress_ratios) == {p: made[p].layers for p in made}


@EITHER
def test_the_pieces_of_a_prompt_weigh_what_is_stated_here(index_k: str) -> None:
    config = EngineConfig(index_k=index_k, pool_pages=2, max_running=1)
    pools = allocate(config, SizedByLayout())
    lens = {name: layout.page_bytes for name, layout in layouts_of(pools)}
    plan = Plan(regions_of(pools, MetadataBuffers(1)), lens, EventLog(lambda: 0))
    chunk, state, aux = plan.kv(0, True, [1, 2], [2, 1]), plan.state([2], [1], 1, 1), plan.aux(1, 1)
    for layers, weights in (
        (FLASH_LAYERS, [piece.flash_bytes for piece in (chunk, state, aux)]),
        (OURS, [sum(plan.bytes_by_pool(piece).values()) for piece in (chunk, state, aux)]),
    ):
        assert weights[0] == sum(chunk_bytes(index_k, 512, layers).values())
        assert weights[1] + weights[2] == sum(once_bytes(512, layers).values())


def test_two_pages_of_the_window_go_where_it_begins_a_page_earlier() -> None:
    one, two = once_bytes(8192, FLASH_LAYERS), once_bytes(8193, FLASH_LAYERS)
    grown = {pool: two[pool] / one[pool] for pool in one}
    assert grown == {"swa": 2, "c4_state": 2, "index_state": 2, "c128_state": 1, "aux": 1}


def test_what_goes_once_in_flash() -> None:
    assert sum(once_bytes(8192, FLASH_LAYERS).values()) == 18_645_824

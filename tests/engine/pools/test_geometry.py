"""The report of every pool and tier says where two tiers do not agree, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from engine.config import EngineConfig
from engine.pools.device import Pool, SizedByLayout
from engine.pools.geometry import GeometryRow, geometry
from engine.shapes import bytes_of, geometry_of
from tests.engine.pools.mirrored import POOLS, Tiers

HOT = ("hisparse_hot", "hisparse_c4")
ITEM_BYTES = {
    "swa": 149_760,
    "c4": 37_440,
    "c128": 1_728,
    "c4_state": 65_536,
    "index_state": 16_384,
}


@dataclass(frozen=True)
class Hot:
    """HiSparse's two pools, of any layout."""

    device: Pool
    host: Pool


def rows(tier: str, **config: object) -> dict[str, GeometryRow]:
    found = geometry_of(EngineConfig(hicache=True, **config))  # type: ignore[arg-type]
    return {row.pool: row for row in found if row.tier == tier}


def mismatches(found: Sequence[GeometryRow]) -> list[str]:
    return [f"{row.pool} {row.tier}" for row in found if not row.agrees]


@pytest.mark.parametrize("tier", ["device", "host"])
@pytest.mark.parametrize(("index_k", "item"), [("fp8", 8_448), ("bf16", 16_384)])
def test_rows_are_production_s(index_k: str, item: int, tier: str) -> None:
    found = rows(tier, index_k=index_k)
    assert {name: found[name].item_bytes for name in POOLS} == {**ITEM_BYTES, "index_k": item}
    assert {name: found[name].layers for name in POOLS} == dict.fromkeys(POOLS, 1) | {"swa": 4}
    assert {found[name].page_tokens for name in POOLS} == {256}


def test_a_page_of_256_tokens_is_64_index_keys_and_they_fit() -> None:
    """The suspicion that a slot page of 256 and an index page of 64 do not go together."""
    row = rows("host", index_k="bf16", hicache_slot_page=256)["index_k"]
    assert (row.page_tokens, row.entries, row.item_bytes) == (256, 64, 64 * 256)
    assert row.agrees


@pytest.mark.parametrize("strategy", ["v4", "dsa"])
@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize("layout", ["layer_first", "page_first"])
def test_every_tier_of_a_healthy_engine_agrees(layout: str, index_k: str, strategy: str) -> None:
    config = EngineConfig(
        hicache=True,
        hicache_layout=layout,  # type: ignore[arg-type]
        index_k=index_k,  # type: ignore[arg-type]
        host_strategy=strategy,  # type: ignore[arg-type]
        hisparse=True,
    )
    assert mismatches(geometry_of(config)) == []


def test_a_measured_host_has_as_many_pages_as_one_that_is_built() -> None:
    odd = {"pool_pages": 100, "host_ratio": 1.15}  # the float product is below 115
    assert {row.pages for row in rows("host", **odd).values()} == {1 + 115}


def test_page_counts_are_the_configuration_s() -> None:
    config = {"pool_pages": 100, "host_ratio": 2.5, "max_running": 7}
    assert {row.pages for row in rows("host", **config).values()} == {251}
    device = rows("device", **config)
    assert device.pop("c128_state").pages == 8
    assert {row.pages for row in device.values()} == {101}


def test_the_report_says_the_same_as_pools_that_exist() -> None:
    tiers = Tiers(index_k="bf16", host_ratio=1.5)
    assert geometry(tiers.device, tiers.host) == geometry_of(tiers.config)


def test_the_bytes_of_the_rows_are_those_that_pools_take_which_exist() -> None:
    tiers = Tiers(index_k="bf16", host_ratio=1.5)
    device = sum(pool.buffer.nbytes for pool in tiers.device.pools)
    host = sum(pool.buffer.nbytes for pool in tiers.host.pools)
    assert bytes_of(geometry_of(tiers.config)) == {"device": device, "host": host}


def test_without_a_host_tier_there_are_no_host_rows() -> None:
    assert {row.tier for row in geometry_of(EngineConfig())} == {"device"}


def test_hisparse_adds_its_two_pools() -> None:
    found = {row.pool: row for row in geometry_of(EngineConfig(hisparse=True, pool_pages=40))}
    hot, host = found["hisparse_hot"], found["hisparse_c4"]
    assert (hot.tier, hot.item_bytes, hot.pages) == ("device", 37_440, 65 * 3)
    assert (host.tier, host.item_bytes, host.pages, host.order) == (
        "host",
        37_440,
        41,
        "layer_first",
    )


@pytest.mark.parametrize("entries", [32, 64])
def test_hisparse_s_pools_are_held_against_the_pool_whose_entries_they_keep(entries: int) -> None:
    tiers = Tiers()
    other = replace(tiers.pool("c4").layout, page_tokens=entries)
    hot = Hot(*(SizedByLayout().allocate(name, other, 3, "cpu") for name in HOT))
    found = geometry(tiers.device, None, hot)
    wrong = [] if entries == 64 else ["hisparse_hot device", "hisparse_c4 host"]
    assert mismatches(found) == wrong


def test_the_device_keeps_its_whole_c4_pool_under_hisparse_and_the_rows_say_so() -> None:
    found = {row.pool: row for row in geometry_of(EngineConfig(hisparse=True, pool_pages=40))}
    assert found["c4"].pages == 41


def test_a_row_is_ready_for_json() -> None:
    row = rows("host")["c4"].as_dict()
    assert json.loads(json.dumps(row)) == row
    assert list(row) == [
        "pool",
        "tier",
        "order",
        "page_tokens",
        "entries",
        "item_bytes",
        "layers",
        "pages",
        "agrees",
    ]


def test_a_device_pool_whose_pages_overlap_is_a_mismatch() -> None:
    config = EngineConfig(index_k="bf16", build=("index_k_under_allocated",))
    found = geometry_of(config)
    assert mismatches(found) == ["index_k device"]
    assert {row.item_bytes for row in found if row.pool == "index_k"} == {8_448}


def pair_rows(tier: str, **config: object) -> dict[str, GeometryRow]:
    found = geometry_of(EngineConfig(pd=True, **config))  # type: ignore[arg-type]
    return {row.pool: row for row in found if row.tier == tier}


def test_a_pair_has_the_device_rows_of_either_side() -> None:
    config = {"pool_pages": 100, "decode_pool_pages": 40, "hicache": True}
    prefill, decode = pair_rows("device", **config), pair_rows("decode", **config)
    assert {prefill[pool].pages for pool in POOLS} == {101}
    assert {decode[pool].pages for pool in POOLS} == {41}
    assert set(pair_rows("host", **config)) == set(rows("host"))
    assert all(row.agrees for row in decode.values())


def test_only_the_decode_side_of_a_pair_has_a_hot_buffer() -> None:
    config = {"hisparse": True, "pool_pages": 100, "decode_pool_pages": 40}
    assert "hisparse_hot" not in pair_rows("device", **config)
    assert pair_rows("decode", **config)["hisparse_hot"].agrees
    assert pair_rows("host", **config)["hisparse_c4"].pages == 41


@pytest.mark.parametrize(("prefill", "decode"), [("fp8", "bf16"), ("bf16", "fp8")])
def test_index_keys_of_two_dtypes_are_a_mismatch_between_the_sides(
    prefill: str, decode: str
) -> None:
    config = EngineConfig(pd=True, index_k=prefill, decode_index_k=decode)  # type: ignore[arg-type]
    assert mismatches(geometry_of(config)) == ["index_k decode"]
    same = replace(config, decode_index_k=prefill)  # type: ignore[arg-type]
    assert mismatches(geometry_of(same)) == []


def test_a_side_that_does_not_keep_to_its_own_layout_disagrees_by_itself() -> None:
    config = EngineConfig(pd=True, index_k="bf16", build=("index_k_under_allocated",))
    assert mismatches(geometry_of(config)) == ["index_k device", "index_k decode"]

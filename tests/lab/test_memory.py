"""What an engine's pools take is held against what there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import EngineConfig
from lab import memory


def test_a_container_has_what_it_is_given(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    whole = memory.machine_bytes(limit)
    limit.write_text("max\n")
    assert memory.machine_bytes(limit) == whole >= memory.GIB // 4
    limit.write_text("1048576\n")
    assert memory.machine_bytes(limit) == 2**20


def test_a_defect_does_not_change_what_the_pools_are_counted_as() -> None:
    healthy = EngineConfig(index_k="bf16", hicache=True)
    wrong = EngineConfig(index_k="bf16", hicache=True, build=("host_mirror_sized_as_fp8",))
    assert memory.pool_bytes(wrong) == memory.pool_bytes(healthy)


def test_each_tier_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EngineConfig(hicache=True, pool_pages=2000)
    taken = memory.pool_bytes(config)
    monkeypatch.setattr(memory, "machine_bytes", lambda: sum(taken.values()))
    assert memory.too_large(config) is None
    monkeypatch.setattr(memory, "machine_bytes", lambda: sum(taken.values()) - 1)
    said = memory.too_large(config)
    assert said is not None and said.startswith("the pools need 4.1 GiB (device 1.4 GiB, host 2.7")


def test_both_sides_of_a_pair_are_counted() -> None:
    alone = EngineConfig(hicache=True, pool_pages=100)
    pair = replace(alone, pd=True, decode_pool_pages=50)
    one, two = memory.pool_bytes(alone), memory.pool_bytes(pair)
    assert (two["device"], two["host"]) == (one["device"], one["host"])
    decode = memory.pool_bytes(EngineConfig(radix=False, pool_pages=50))
    assert two["decode"] == decode["device"] and set(decode) == {"device"}


def test_every_rank_of_a_pair_has_pools_of_its_own() -> None:
    pair = EngineConfig(pd=True, tp=4)
    one = memory.pool_bytes(replace(pair, tp=1))
    assert memory.pool_bytes(pair) == {tier: 4 * size for tier, size in one.items()}


def test_ranks_without_a_pair_take_nothing() -> None:
    assert memory.pool_bytes(EngineConfig(tp=4)) == memory.pool_bytes(EngineConfig())

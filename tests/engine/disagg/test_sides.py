"""The two configurations that a pair's settings make."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.config import EngineConfig
from engine.disagg.sides import decode_config, prefill_config

PAIR = EngineConfig(pd=True, hicache=True, hisparse=True, pool_pages=64, tp=2, seed=7)


def test_the_prefill_side_keeps_everything_but_hisparse() -> None:
    assert prefill_config(PAIR) == replace(PAIR, hisparse=False)


def test_the_decode_side_keeps_no_prefixes_and_no_host_tier() -> None:
    assert decode_config(PAIR) == replace(PAIR, radix=False, hicache=False)


@pytest.mark.parametrize(("asked", "pages"), [(0, 64), (16, 16)])
def test_the_decode_side_has_its_own_pages_or_as_many_as_the_prefill_side(
    asked: int, pages: int
) -> None:
    config = replace(PAIR, decode_pool_pages=asked)
    assert decode_config(config).pool_pages == pages
    assert prefill_config(config).pool_pages == 64


@pytest.mark.parametrize(("asked", "dtype"), [("same", "fp8"), ("fp8", "fp8"), ("bf16", "bf16")])
def test_the_decode_side_has_its_own_index_keys_or_those_of_the_prefill_side(
    asked: str, dtype: str
) -> None:
    config = replace(PAIR, decode_index_k=asked)  # type: ignore[arg-type]
    assert decode_config(config).index_k == dtype
    assert prefill_config(config).index_k == "fp8"

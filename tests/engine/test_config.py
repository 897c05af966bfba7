"""Impossible configurations are refused in one line."""

import pytest

from engine.config import EngineConfig
from engine.errors import ConfigError
from engine.runner.step_cost import decode_s, kv_bytes_per_token, prefill_s, preset


@pytest.mark.parametrize("tokens", [0, -256, 100, 300])
def test_a_prefill_chunk_is_a_positive_multiple_of_the_page(tokens: int) -> None:
    with pytest.raises(ConfigError, match="multiple of 256"):
        EngineConfig(chunked_prefill=tokens)


@pytest.mark.parametrize("name", ["graph_max_bs", "max_running", "stream_interval", "pool_pages"])
def test_sizes_have_a_least_value(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        EngineConfig(**{name: 0})


@pytest.mark.parametrize(
    ("pages", "ratio", "host"), [(100, 1.15, 115), (6, 1.5, 9), (10, 1.0, 10), (3, 1.5, 4)]
)
def test_host_pages_are_device_pages_by_the_ratio_to_the_nearest_page(
    pages: int, ratio: float, host: int
) -> None:
    assert EngineConfig(pool_pages=pages, host_ratio=ratio).host_pages == host


def test_a_link_is_rated_in_thousands_of_thousands_of_thousands_of_bytes() -> None:
    assert EngineConfig(host_gb_per_s=0.5).host_bytes_per_s == 5e8


def test_unknown_hardware_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="accepted: h200"):
        preset("abacus")


def test_steps_cost_more_for_more_work() -> None:
    hw = preset("h200")
    assert prefill_s(hw, 2048) > prefill_s(hw, 256)
    assert decode_s(hw, 8, 5e8, True) > decode_s(hw, 4, 5e8, True)
    assert decode_s(hw, 8, 9e8, True) > decode_s(hw, 8, 5e8, True)
    assert decode_s(hw, 8, 5e8, False) > decode_s(hw, 8, 5e8, True)


def test_a_token_costs_the_bytes_of_its_rows() -> None:
    latents = 21 * 37_440 + 20 * 1_728
    assert kv_bytes_per_token("fp8") == (latents + 21 * 8_448) / 256
    assert kv_bytes_per_token("bf16") == (latents + 21 * 16_384) / 256

"""Values that no field's type can hold back are refused when a configuration is made."""

import math
from typing import Any

import pytest

from engine.config import EngineConfig, ModelConfig
from engine.errors import ConfigError
from engine.pools import layouts


@pytest.mark.parametrize(
    ("name", "accepted"),
    [("index_k", "fp8, bf16"), ("topk", "v1, v2"), ("allocator", "lifo, fifo, random")],
)
def test_an_unknown_choice_names_the_accepted_ones(name: str, accepted: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} is 'fp16'; accepted: {accepted}$"):
        EngineConfig(**{name: "fp16"})  # type: ignore[arg-type]


@pytest.mark.parametrize("tokens", [-256, 0, 255, 300, 8191, 8448, 16384])
def test_a_context_is_whole_pages_within_the_models_reach(tokens: int) -> None:
    with pytest.raises(ConfigError, match=rf"max_context is {tokens}; .* from 256 to 8192$"):
        ModelConfig(max_context=tokens)


@pytest.mark.parametrize("count", [0, -1])
def test_the_indexer_selects_something(count: int) -> None:
    with pytest.raises(ConfigError, match=f"index_topk is {count}; it must be at least 1"):
        ModelConfig(index_topk=count)


@pytest.mark.parametrize("ratios", [(), (0, 0, 4, 128), (0, 128, 4), (0, 0, 128, 4, 4)])
def test_another_shape_is_refused(ratios: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="the constructed model has this shape"):
        ModelConfig(compress_ratios=ratios)


@pytest.mark.parametrize("device", ["", "gpu", "cuda:", "cuda:x", "cuda:0 ", "cpu\n", "cpu:0"])
def test_an_unknown_device_is_refused(device: str) -> None:
    with pytest.raises(ConfigError, match="accepted: cpu, cuda, cuda:<number>"):
        EngineConfig(device=device)


@pytest.mark.parametrize(
    "values", [{"device": "cuda"}, {"device": "cuda:1"}, {"model": ModelConfig(max_context=256)}]
)
def test_what_can_work_is_accepted(values: dict[str, Any]) -> None:
    assert EngineConfig(**values) != EngineConfig()


def test_an_index_key_has_one_of_two_layouts() -> None:
    assert [layouts.index_k(dtype, 1).page_bytes for dtype in ("fp8", "bf16")] == [8448, 16384]
    with pytest.raises(ConfigError, match="'fp16'; accepted: fp8, bf16"):
        layouts.index_k("fp16", 1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hicache": True, "radix": False}, "hicache is on and radix off"),
        ({"host_ratio": 0.9}, "host_ratio is 0.9; it must be at least 1"),
        ({"host_ratio": math.nan}, "host_ratio is nan"),
        ({"host_ratio": math.inf}, "host_ratio is inf"),
        ({"host_gb_per_s": 0.0}, "host_gb_per_s is 0.0; it must be above 0"),
        ({"host_gb_per_s": math.inf}, "host_gb_per_s is inf"),
        (
            {"hicache_io": "direct", "hicache_layout": "page_first"},
            "hicache_io 'direct' copies layer_first and page_first_direct only",
        ),
        (
            {"hicache_io": "kernel", "hicache_layout": "page_first_direct"},
            "hicache_io 'kernel' copies layer_first and page_first only",
        ),
        ({"hicache_layout": "token_first"}, "accepted: layer_first, page_first, page_first_direct"),
        ({"hicache_write": "never"}, "accepted: write_through, write_through_selective"),
        ({"host_strategy": "v3"}, "accepted: v4, dsa"),
        ({"hicache_slot_page": 100}, "hicache_slot_page is 100; .*: 128 or 256"),
        ({"hicache_slot_page": 64}, "hicache_slot_page is 64"),
        ({"hicache_slot_page": 512}, "hicache_slot_page is 512"),
        ({"hicache_slot_page": 0}, "hicache_slot_page is 0"),
        (
            {"hisparse": True, "hisparse_buffer": 63},
            r"hisparse_buffer is 63 entries; one step reads 64 \(index_topk\)",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else "+".join(value),
)
def test_what_a_host_tier_cannot_be_built_with_is_refused(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        EngineConfig(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"hicache": True, "host_ratio": 1.0},
        {"hicache_io": "direct", "hicache_layout": "page_first_direct"},
        {"hicache_slot_page": 128},
        {"hisparse": True, "hisparse_buffer": 64},
        {"hisparse": True, "radix": False},
        {"hisparse_buffer": 16},  # of no account without hisparse
    ],
    ids=lambda values: "+".join(values),
)
def test_what_a_host_tier_can_be_built_with_is_accepted(values: dict[str, Any]) -> None:
    assert EngineConfig(**values) != EngineConfig()


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ({"hicache": True, "radix": False}, ("hicache", "radix")),
        (
            {"hicache_io": "direct", "hicache_layout": "page_first"},
            ("hicache_layout", "hicache_io"),
        ),
        ({"pool_pages": 1}, ("pool_pages",)),
        ({"topk": "v3"}, ("topk",)),
        ({"chunked_prefill": 300}, ("chunked_prefill",)),
    ],
)
def test_a_refusal_says_by_key_which_settings_do_not_go_together(
    values: dict[str, Any], keys: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as caught:
        EngineConfig(**values)
    assert caught.value.keys == keys


@pytest.mark.parametrize(
    ("values", "keys", "message"),
    [
        ({"workers": 0}, ("workers",), "workers is 0; it must be at least 1"),
        ({"queue_size": 0}, ("queue_size",), "queue_size is 0; it must be at least 1"),
        ({"tp": 0}, ("tp",), "tp is 0; it must be at least 1"),
        ({"metadata_slots": -1}, ("metadata_slots",), "metadata_slots is -1"),
        ({"decode_pool_pages": 1}, ("decode_pool_pages",), "must be 0 or at least 2"),
        ({"wire_gb_per_s": -1.0}, ("wire_gb_per_s",), "wire_gb_per_s is -1.0"),
        ({"wire_gb_per_s": math.nan}, ("wire_gb_per_s",), "wire_gb_per_s is nan"),
        ({"waiting_timeout": 0.0}, ("waiting_timeout",), "waiting_timeout is 0.0 s"),
        ({"bootstrap_timeout": math.inf}, ("bootstrap_timeout",), "bootstrap_timeout is inf s"),
        ({"wire": "ucx"}, ("wire",), "accepted: inproc, nixl"),
        ({"decode_index_k": "fp16"}, ("decode_index_k",), "accepted: same, fp8, bf16"),
        (
            {"pd": True, "wire": "nixl", "device": "cuda"},
            ("wire", "device", "pd"),
            "wire is 'nixl' and device 'cuda'",
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_what_a_pair_cannot_be_built_with_is_refused(
    values: dict[str, Any], keys: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        EngineConfig(**values)
    assert caught.value.keys == keys and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"pd": True, "wire": "nixl"},
        {"pd": True, "device": "cuda"},
        {"wire": "nixl", "device": "cuda"},  # of no account without pd
        {"pd": True, "decode_pool_pages": 2, "metadata_slots": 1},
        {"pd": True, "hicache": True, "hisparse": True, "overlap": True},
    ],
    ids=lambda values: "+".join(values),
)
def test_what_a_pair_can_be_built_with_is_accepted(values: dict[str, Any]) -> None:
    assert EngineConfig(**values) != EngineConfig()


def test_an_engine_alone_is_one_rank() -> None:
    assert [EngineConfig(pd=pd, tp=4).ranks for pd in (False, True)] == [1, 4]

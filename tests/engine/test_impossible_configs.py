"""Values that no field's type can hold back are refused when a configuration is made."""

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

"""The model says every token that the integers say it must, and how far it is from another."""

from __future__ import annotations

import pytest
import torch

from engine.probe.forward import Cache, Network, Past
from engine.probe.margins import Margins, force
from engine.probe.shape import ProbeShape
from tests.engine.probe.world import Talk, talk, tensors

SHAPES = [
    ProbeShape(heads=12, kv_heads=1, head_dim=64),
    ProbeShape(heads=12, kv_heads=4, head_dim=64),
    ProbeShape(kv_heads=1),
    ProbeShape(heads=16, kv_heads=8, head_dim=64),
    ProbeShape(heads=7, kv_heads=1),
    ProbeShape(heads=14, kv_heads=2, head_dim=64),
    ProbeShape(heads=9, kv_heads=3),
    ProbeShape(kv_heads=4, head_dim=256),
    ProbeShape(copies=5),
]


def margins(
    shape: ProbeShape, asked: Talk, dtype: torch.dtype = torch.float32, cache: Cache = "same"
) -> Margins:
    """Of a conversation in which nothing is wrong."""
    forced = force(Network(tensors(shape), shape, dtype, cache), asked.ids, asked.said)
    assert forced.wrong == []
    return forced.margins


def test_twins_and_a_repeated_key_are_told_apart() -> None:
    found = margins(ProbeShape(), talk(seed=1))
    assert min(found.offset, found.anchor, found.copy) > 45
    assert 19 < found.symbol < 21
    assert found.logit > 95


def test_decoding_token_by_token_says_the_same() -> None:
    asked, shape = talk(seed=2, turns=(1,)), ProbeShape()
    network, past, start = Network(tensors(shape), shape, torch.float32), Past(), asked.said[0]
    said = [int(network.forward(torch.tensor(asked.ids[:start]), past)[-1].argmax())]
    while len(said) < 60:
        said.append(int(network.forward(torch.tensor(said[-1:]), past)[-1].argmax()))
    assert said == asked.ids[start : start + 60]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_exact_in_bfloat16_with_an_fp8_cache(shape: ProbeShape) -> None:
    found = margins(shape, talk(seed=3), torch.bfloat16, "e4m3")
    assert min(found.offset, found.anchor, found.copy) > 35
    assert found.symbol > 15


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_four_thousand_tokens_are_exact(dtype: torch.dtype) -> None:
    asked = talk(seed=4, entries=6, turns=(0, 1, 2, 0, 5, 3, 1, 4))
    assert len(asked.ids) > 4000
    found = margins(ProbeShape(), asked, dtype)
    assert min(found.offset, found.anchor, found.copy) > 45


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["same", "e4m3"])
def test_seven_and_a_half_thousand_tokens_are_exact(cache: Cache) -> None:
    asked = talk(seed=5, entries=17, turns=(0, 16, 8, 0, 3, 5, 12, 8, 16, 1))
    assert len(asked.ids) > 7500
    found = margins(ProbeShape(), asked, torch.bfloat16, cache)
    assert min(found.offset, found.anchor, found.copy) > 35

"""One forward in one pass, in parts, and in any arithmetic."""

from __future__ import annotations

import torch

from engine.probe.forward import Network, Past, forward
from engine.probe.shape import ProbeShape
from tests.engine.probe.world import tensors

SHAPE = ProbeShape(heads=12, kv_heads=1, head_dim=64)
IDS = torch.randint(0, 256, (96,), generator=torch.Generator().manual_seed(0))


def test_parts_of_a_text_give_the_logits_of_the_whole() -> None:
    network = Network(tensors(SHAPE), SHAPE)
    past, cuts = Past(), IDS.split([40, 1, 1, 54])
    parts = torch.cat([network.forward(part, past) for part in cuts])
    assert past.tokens == len(IDS)
    assert torch.allclose(parts, network.forward(IDS), atol=1e-9)


def test_a_token_sees_nothing_that_is_to_come() -> None:
    whole = forward(tensors(SHAPE), SHAPE, IDS)
    assert torch.allclose(whole[:50], forward(tensors(SHAPE), SHAPE, IDS[:50]), atol=1e-9)


def test_bfloat16_rounds_what_is_between_the_operations() -> None:
    logits = forward(tensors(SHAPE), SHAPE, IDS, torch.bfloat16)
    assert torch.equal(logits, logits.bfloat16().float())


def test_an_fp8_cache_holds_numbers_that_fp8_has() -> None:
    past = Past()
    forward(tensors(SHAPE), SHAPE, IDS, torch.bfloat16, "e4m3", past)
    for pair in past.layers:
        for rows in pair:
            assert torch.equal(rows, rows.to(torch.float8_e4m3fn).float())

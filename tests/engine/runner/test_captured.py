"""A captured decode runs at its captured size, and its padding is neutral whatever ran before."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, cast

import pytest
import torch

from engine.config import EngineConfig
from engine.runner.dead_rows import ToReservedSlot
from engine.runner.graph import SEQ_LEN_FILL, CapturedDecode
from engine.runner.index_store import ObservedStore
from engine.runner.inputs import DecodeInputs

if TYPE_CHECKING:
    from torch import Tensor

    from engine.pools.device import DevicePools
    from engine.scribe.forward import Scribe

CONFIG = EngineConfig(graph_max_bs=8)
WIDTH = CONFIG.model.max_context // 256
NEUTRAL = {field.name: 0 for field in fields(DecodeInputs)} | {"seq_lens": SEQ_LEN_FILL}


class FakeModel:
    """Keeps a copy of what each step was given; the next token is the token plus one."""

    def __init__(self) -> None:
        self.steps: list[DecodeInputs] = []

    def decode(self, x: DecodeInputs, pools: object) -> Tensor:
        copies = {field.name: getattr(x, field.name).clone() for field in fields(DecodeInputs)}
        self.steps.append(DecodeInputs(**copies))
        return x.tokens + 1


def rows(n: int, length: int = 384) -> DecodeInputs:
    """``n`` live rows, no field of which is neutral; at 384 tokens each completes c4 and c128."""
    at = torch.arange(1, n + 1)
    slot = at * 256 + (length - 1) % 256
    return DecodeInputs(
        tokens=at + 100,
        positions=torch.full((n,), length - 1),
        seq_lens=torch.full((n,), length, dtype=torch.int32),
        out_cache_loc=slot,
        c4_out_loc=slot // 4,
        c128_out_loc=slot // 128,
        page_table=at[:, None].expand(n, WIDTH).to(torch.int32),
        req_slots=at,
        live=torch.ones(n, dtype=torch.bool),
    )


@pytest.fixture
def model() -> FakeModel:
    return FakeModel()


@pytest.fixture
def captured(model: FakeModel) -> CapturedDecode:
    pools = cast("DevicePools", None)  # the fake model writes nowhere
    store = cast("ObservedStore", None)  # read by a capture on a GPU only
    return CapturedDecode(cast("Scribe", model), pools, CONFIG, ToReservedSlot(), store)


@pytest.mark.parametrize("name", NEUTRAL)
def test_after_a_smaller_replay_the_tail_is_neutral(
    captured: CapturedDecode, model: FakeModel, name: str
) -> None:
    captured.run(rows(8))
    captured.run(rows(5))
    larger, smaller = (getattr(step, name) for step in model.steps)
    assert (larger != NEUTRAL[name]).all()
    assert len(smaller) == 8
    assert (smaller[5:] == NEUTRAL[name]).all()
    assert torch.equal(smaller[:5], getattr(rows(5), name))


def test_real_rows_that_complete_nothing_carry_the_reserved_slot(
    captured: CapturedDecode, model: FakeModel
) -> None:
    captured.run(rows(4))
    captured.run(rows(4, length=382))
    last = model.steps[-1]
    assert not last.c4_out_loc.any()
    assert not last.c128_out_loc.any()
    assert last.live.all()


@pytest.mark.parametrize(("real", "size"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (8, 8), (9, 9)])
def test_a_batch_runs_at_the_next_captured_size(
    captured: CapturedDecode, model: FakeModel, real: int, size: int
) -> None:
    out = captured.run(rows(real))
    assert captured.padded(real) == size
    assert len(model.steps[-1].tokens) == size
    assert out.tolist() == [101 + i for i in range(1, real + 1)]


def test_above_the_largest_size_a_batch_runs_as_it_is_and_the_buffers_stay(
    captured: CapturedDecode, model: FakeModel
) -> None:
    captured.run(rows(8))
    before = captured.static.out_cache_loc.clone()
    captured.run(rows(9, length=382))
    assert model.steps[-1].live.tolist() == [True] * 9
    assert not model.steps[-1].c4_out_loc.any()
    assert torch.equal(captured.static.out_cache_loc, before)

"""A step that is recorded waits for nothing and mixes no devices: else no graph could hold it.

Tensors of the device ``meta`` have shapes and no values, so whoever asks for a value raises, and so
does whoever puts one together with a tensor of the CPU. This needs no GPU.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.config import EngineConfig, ModelConfig
from engine.defects import seams
from engine.pools.device import allocate
from engine.runner.eager import EagerDecode
from engine.runner.graph import CapturedDecode
from engine.runner.index_store import ObservedStore
from engine.runner.inputs import DecodeInputs
from engine.scribe.forward import Scribe
from kernels.layout import LayerView
from kernels.ops import Ops, Segment

BUILDS = [(), ("padded_scatter_stale_slots",), ("padded_scatter_wraps_to_last_slot",)]


def _nothing(*_: object) -> None:
    return


def _store(dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor:
    return torch.empty_like(slots)


def _logits(src: LayerView, q: Tensor, weight: Tensor, table: Tensor, lens: Tensor) -> Tensor:
    return q.new_empty(len(q), table.shape[1] * 64)


def _topk(logits: Tensor, lens: Tensor, table: Tensor, k: int) -> Tensor:
    return table.new_empty(len(logits), k)


def _attention(
    q: Tensor, segments: tuple[Segment, ...], bias: Tensor, sink: Tensor, **more: Any
) -> tuple[Tensor, Tensor]:
    first, last = more["dims"]
    return q.new_empty(*q.shape[:2], last - first), q.new_empty(q.shape[:2])


def shapes() -> Ops:
    """Operations that answer with the right shapes and look at nothing."""
    each: dict[str, Any] = dict.fromkeys((field.name for field in fields(Ops)), _nothing)
    each |= {"store_index_k": _store, "indexer_logits": _logits, "sparse_attention": _attention}
    return Ops(**(each | {"topk_slots_v1": _topk, "topk_slots_v2": _topk}))


@pytest.fixture(params=BUILDS, ids=lambda build: "+".join(build) or "healthy")
def captured(request: pytest.FixtureRequest) -> CapturedDecode:
    config = EngineConfig(
        index_k="bf16", pool_pages=4, graph_max_bs=4, model=ModelConfig(index_topk=16)
    )
    object.__setattr__(config, "device", "meta")  # no engine has it, so no configuration takes it
    build, ops = seams(request.param), shapes()
    store = ObservedStore(build.index_k_store(ops))
    model = Scribe(config.model, ops, store, config.topk, config.device)
    pools = allocate(config, build.index_k_buffer())
    return CapturedDecode(model, pools, config, build.dead_rows(), store)


def rows(captured: CapturedDecode, n: int) -> DecodeInputs:
    """As many rows as are really there."""
    static = captured.static
    return DecodeInputs(**{f.name: getattr(static, f.name)[:n].clone() for f in fields(static)})


@torch.inference_mode()
def test_a_captured_step_asks_for_no_value(captured: CapturedDecode) -> None:
    out = captured.run(rows(captured, 3))
    assert (out.shape, out.device.type) == ((3,), "meta")
    assert captured.store.last is not None and len(captured.store.last.written) == 4


@torch.inference_mode()
def test_an_eager_step_asks_for_none_either(captured: CapturedDecode) -> None:
    out = EagerDecode(captured.model, captured.pools).run(rows(captured, 3))
    assert (out.shape, out.device.type) == ((3,), "meta")


def test_a_value_that_is_asked_for_and_a_tensor_of_the_cpu_would_be_seen(
    captured: CapturedDecode,
) -> None:
    table = captured.static.page_table
    with pytest.raises(RuntimeError):
        table.sum().item()
    with pytest.raises(NotImplementedError):
        table[captured.static.live]
    with pytest.raises(RuntimeError):
        table + torch.ones(table.shape[1])

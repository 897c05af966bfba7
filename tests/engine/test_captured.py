"""Captured decode over whole sessions: on a GPU every step is the replay of a real CUDA graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.engine import Engine
from engine.runner.graph import CapturedDecode
from tests.engine.captured_runs import (
    DEVICES,
    GPU_ONLY,
    KNOWN,
    STALE,
    WRAPS,
    config,
    padded_to,
    serve,
    violations,
)

WROTE = "padded_row_wrote_owned_slot"
TIGHT = {"pool_pages": 20}  # the last page is somebody's
LIKE_EAGER: list[dict[str, Any]] = [
    {},
    {"index_k": "bf16", "topk": "v2"},
    {"index_k": "bf16", "overlap": True, "hicache": True, "pool_pages": 44},
    {"hisparse": True, "hisparse_buffer": 16},
]
ALIKE: list[dict[str, Any]] = [
    {},
    {"graph": False, "index_k": "bf16"},
    {"overlap": True, "hicache": True, "pool_pages": 44},
    {"ledger": "full", "index_k": "bf16"},
    {"pd": True, "index_k": "bf16"},
    {"build": (STALE,), "index_k": "bf16"},
    {"build": (WRAPS,), "index_k": "bf16", **TIGHT},
]


@pytest.mark.parametrize("device", GPU_ONLY)
@pytest.mark.parametrize("toggles", LIKE_EAGER, ids=str)
def test_captured_and_eager_say_the_same_while_the_batch_shrinks(
    device: str, toggles: dict[str, Any]
) -> None:
    captured, replies = serve(config(device=device, **toggles))
    eager, others = serve(config(device=device, graph=False, **toggles))
    assert replies == others == KNOWN
    assert violations(captured) == violations(eager) == []
    assert {4, 8} <= padded_to(captured) and not padded_to(eager)


@pytest.mark.parametrize("device", GPU_ONLY)
def test_on_a_gpu_each_size_is_a_graph_that_was_recorded_once(device: str) -> None:
    engine, _ = serve(config(device=device))
    assert isinstance(engine, Engine)
    decode = engine.runner._decode
    assert isinstance(decode, CapturedDecode)
    sizes = {int(e.fields["size"]) for e in engine.events.events if e.kind == "decode"}
    assert {*decode._graphs} == sizes
    assert all(isinstance(it.graph, torch.cuda.CUDAGraph) for it in decode._graphs.values())


@pytest.mark.parametrize("device", DEVICES)
def test_padding_that_keeps_its_slots_writes_into_somebody_s_page_and_is_named(device: str) -> None:
    engine, replies = serve(config(device=device, build=(STALE,), index_k="bf16"))
    told = violations(engine, WROTE)
    assert told and replies != KNOWN
    for it in told:
        assert it["dead"] == "padding"
        assert it["writer"] == f"padding lane {it['row']} of decode step {it['step']}"


@pytest.mark.parametrize("device", DEVICES)
def test_a_dead_row_that_carries_minus_one_writes_the_last_slot_and_is_named(device: str) -> None:
    engine, _ = serve(config(device=device, build=(WRAPS,), index_k="bf16", **TIGHT))
    told = violations(engine, WROTE)
    assert told
    assert {it["page"] for it in told} == {TIGHT["pool_pages"]}
    assert all(engine.events.counters[f"dead_writes_{why}"] for why in ("padding", "incomplete"))


@pytest.mark.parametrize("device", GPU_ONLY)
@pytest.mark.parametrize("cure", [{"graph": False}, {"index_k": "fp8"}], ids=str)
def test_without_a_graph_or_with_fp8_keys_the_same_build_is_clean(
    device: str, cure: dict[str, Any]
) -> None:
    engine, replies = serve(
        config(**{"device": device, "build": (STALE,), "index_k": "bf16", **cure})
    )
    assert replies == KNOWN
    assert violations(engine) == []


@pytest.mark.parametrize("device", GPU_ONLY)
@pytest.mark.parametrize("toggles", ALIKE, ids=str)
def test_a_gpu_leaves_the_history_that_a_cpu_leaves(device: str, toggles: dict[str, Any]) -> None:
    here, said = serve(config(device=device, **toggles))
    there, known = serve(config(**toggles))
    assert said == known
    assert violations(here) == violations(there)
    assert here.events.digest() == there.events.digest()

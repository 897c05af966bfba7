"""The set of operations is frozen, replaceable one by one, and honest about what is missing."""

from dataclasses import FrozenInstanceError, replace

import pytest

from kernels import jit
from kernels.bench import Load, measure, measure_copies
from kernels.ops import Ops


def test_ops_are_frozen_and_one_can_be_replaced() -> None:
    ops = Ops.reference()
    with pytest.raises(FrozenInstanceError):
        ops.page_digest = ops.store_latent  # type: ignore[misc, assignment]
    other = replace(ops, topk_slots_v1=ops.topk_slots_v2)
    assert other.topk_slots_v1 is ops.topk_slots_v2
    assert other.store_latent is ops.store_latent


def test_without_triton_the_error_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "AVAILABLE", False)
    with pytest.raises(jit.TritonMissing, match=r"^Triton is not installed.*Ops.reference"):
        Ops.triton()


def test_the_benchmark_names_every_operation_once() -> None:
    load = Load(rows=3, tokens=600, sharers=2, chunk=64)
    figures = list(measure(Ops.reference(), load, seconds=0.001))
    names = [f.name for f in figures]
    assert len({*names}) == len(names)
    assert {f.decode for f in figures} == {True, False}
    assert all(f.ms > 0 for f in figures)


def test_the_benchmark_times_copies_by_page_and_by_token() -> None:
    figures = {f.name: f.gb_per_s for f in measure_copies(Ops.reference(), 1, seconds=0.001)}
    assert {"swa, pages to page_first", "index-K bf16, tokens"} <= figures.keys()
    assert all(rate > 0 for rate in figures.values())

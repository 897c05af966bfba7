"""A sound operation passes every check, and for every check there is a fault that it catches."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kernels.audit import gate
from kernels.audit.check import Check, Found, Implementation, Setting, all_checks
from kernels.ops import Ops
from tests.kernels.audit import twins as t

SPARSE, WINDOW = t.HEALTHY.sparse_attention, t.HEALTHY.window_attention
ROWS = 40  # stands for the gate's 11,673
FAULTS: dict[str, list[dict[str, t.Twin]]] = {
    "store_index_k: random rows": [{"store_index_k": t.rows_shifted}],
    "store_index_k: edges of the formats": [{"store_index_k": t.nan_lost}],
    "store_index_k: rows that write nothing": [{"store_index_k": t.unguarded}],
    "store_index_k: pool beyond 2 GiB": [{"store_index_k": t.stored_in_31_bits}],
    "store_latent: random rows": [{"store_latent": t.rows_shifted}],
    "store_latent: edges of the format": [{"store_latent": t.nan_lost}],
    "store_latent: rows that write nothing": [{"store_latent": t.unguarded}],
    "store_latent: pool beyond 2 GiB": [{"store_latent": t.stored_in_31_bits}],
    "indexer_logits: ragged rows": [
        {"indexer_logits": t.without_weight},
        {"indexer_logits": t.a_lane_lost},
        {"indexer_logits": t.last_page_unwritten},
    ],
    "indexer_logits: numbers at the edges": [{"indexer_logits": t.nan_hidden}],
    "indexer_logits: queries of production": [{"indexer_logits": t.a_lane_lost}],
    "indexer_logits: pool beyond 2 GiB": [{"indexer_logits": t.pages_in_31_bits}],
    "topk: random logits": [{"topk_slots_v1": t.one_too_few}, {"topk_slots_v2": t.one_too_few}],
    "topk: equal logits": [{"topk_slots_v1": t.last_of_equals}],
    "topk: numbers at the edges": [{"topk_slots_v2": t.nan_last}],
    "sparse_attention: one segment": [{"sparse_attention": t.attending(t.a_slot_lost)}],
    "sparse_attention: many segments": [{"sparse_attention": t.attending(t.bias_ignored)}],
    "sparse_attention: queries of production": [
        {"sparse_attention": t.attending(t.sink_ignored)},
        {"sparse_attention": t.attending(t.a_slot_lost)},
    ],
    "sparse_attention: rows that see little": [{"sparse_attention": t.attending(t.dead_seen)}],
    "sparse_attention: scales and scores at the edges": [
        {"sparse_attention": t.attending(t.scores_in_bf16)}
    ],
    "sparse_attention: NaN in rows seen and not seen": [
        {"sparse_attention": t.zeros_for_nan(SPARSE)}
    ],
    "sparse_attention: rows at the gate of 11,673": [
        {"sparse_attention": t.averaged_above(SPARSE, ROWS)}
    ],
    "sparse_attention: pool beyond 2 GiB": [{"sparse_attention": t.attending(t.slots_in_31_bits)}],
    "window_attention: chunks of a context": [{"window_attention": t.window_too_short}],
    "window_attention: NaN in and out of the window": [
        {"window_attention": t.zeros_for_nan(WINDOW)}
    ],
    "window_attention: rows at the gate of 11,673": [
        {"window_attention": t.averaged_above(WINDOW, ROWS)}
    ],
    "page_copy: every pair of nestings": [{"page_copy": t.page_truncated}],
    "page_copy: rows that fit no word": [{"page_copy": t.page_truncated}],
    "page_copy: pool beyond 2 GiB": [{"page_copy": t.pages_copied_in_31_bits}],
    "token_copy: every plane of a token": [{"token_copy": t.one_plane_only}],
    "token_copy: dead tokens": [{"token_copy": t.live_ignored}],
    "token_copy: pool beyond 2 GiB": [{"token_copy": t.tokens_in_31_bits}],
    "page_digest: random pages": [{"page_digest": t.next_page}],
    "page_digest: flipped bits and swapped rows": [{"page_digest": t.last_word_skipped}],
    "page_digest: pool beyond 2 GiB": [{"page_digest": t.digest_in_31_bits}],
}
CHECKS = {f"{c.kernel}: {c.name}": c for c in all_checks() if "reference" in c.only}
CASES = [(name, n) for name, each in FAULTS.items() for n in range(len(each))]
# of these a few programs are enough for the interpreter
INTERPRETED = ("page_digest: r", "store_index_k: rows", "token_copy: dead", "topk: equal")


@pytest.fixture(autouse=True)
def _low_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "GATE", ROWS)


def asked(check: Check, ops: Ops, **how: Any) -> Found:
    return check.run(Setting(ops, "reference", **how))


def test_every_check_has_a_fault_that_it_must_catch() -> None:
    assert sorted(FAULTS) == sorted(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("seed", [0, 5])
def test_sound_operations_pass(name: str, seed: int) -> None:
    found = asked(CHECKS[name], t.HEALTHY, seed=seed)
    assert found.ok, (found.measured, found.bound)
    assert found.inputs and found.why and set(found.bound) == set(found.measured)


@pytest.mark.parametrize(("name", "n"), CASES)
def test_a_fault_is_caught(name: str, n: int) -> None:
    found = asked(CHECKS[name], t.with_twin(**FAULTS[name][n]))
    assert not found.ok, found.measured


@pytest.mark.kernels
@pytest.mark.parametrize("name", [each for each in CHECKS if each.startswith(INTERPRETED)])
def test_interpreted_kernels_pass(name: str, ops: Ops) -> None:
    found = CHECKS[name].run(Setting(ops, "triton interpreted"))
    assert found.ok, (found.measured, found.bound)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_rows_whose_product_wraps_are_caught(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    (check,) = [c for c in all_checks() if c.name == "rows x width beyond 32 bits"]
    kind: Implementation = "triton compiled" if device == "cuda" else "triton interpreted"
    for ops, ok in ((t.HEALTHY, True), (t.with_twin(indexer_logits=t.rows_in_32_bits), False)):
        found = check.run(Setting(ops, kind, device))
        assert found.ok == ok, found.measured
        assert (found.measured["entries outside"] == 0.0) == ok


@pytest.mark.kernels
def test_interpreted_rows_do_not_wrap(ops: Ops) -> None:
    (check,) = [c for c in all_checks() if c.name == "rows x width beyond 32 bits"]
    found = check.run(Setting(ops, "triton interpreted"))
    assert found.ok, (found.measured, found.bound)
    assert "1 of them beyond 2**31" in found.inputs


@pytest.mark.gpu
def test_a_page_truncated_on_its_way_to_pinned_memory_is_caught() -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    (check,) = [c for c in all_checks() if c.name == "pinned host memory"]
    assert asked(check, t.HEALTHY, device="cuda").ok
    assert not asked(check, t.with_twin(page_copy=t.page_truncated), device="cuda").ok


def test_nan_is_out_of_every_bound() -> None:
    assert not Found("", {"error": float("nan")}, {"error": 1.0}, "").ok

"""However a row is cut into segments, the same entries are chosen, in order of position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.jit import INTERPRETED
from kernels.topk_select import TopkPlan, plan_for, select_slots
from tests.kernels.conftest import IMPLEMENTATIONS
from tests.kernels.test_topk import batch, restate

if TYPE_CHECKING:
    from torch import Tensor

PLANS = [TopkPlan(128, 4, 128, 4), TopkPlan(256, 4, 128, 8, keep=2), TopkPlan(512, 8, 256)]
KINDS = ["plain", "ties", "rectified", "nan", "many nans", "signed zero"]
LENS = [0, 64, 65, 128, 129, 257, 640]
SPECIAL = [float("nan"), float("inf"), 1.5, 1e-45, 0.0, -0.0, -1e-45, -1.5, float("-inf")]
WIDTH = 640

cut = pytest.mark.parametrize("ops", IMPLEMENTATIONS[1:], indirect=True)


def rows(values: Tensor, lens: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """(logits, lens, pages) of rows that hold ``values`` [WIDTH] up to their lengths; pages are in
    order, so that a slot is a position.
    """
    ends = torch.tensor(lens, dtype=torch.int32)
    logits = values.repeat(len(lens), 1)
    logits.masked_fill_(torch.arange(WIDTH) >= ends[:, None], -torch.inf)
    pages = torch.arange(WIDTH // 64, dtype=torch.int32).repeat(len(lens), 1)
    return logits, ends, pages


def picked(row: Tensor, length: int, k: int) -> list[int]:
    """What is wanted: the positions, ascending, then -1."""
    identity = torch.arange(WIDTH // 64)
    slots = restate(row, length, identity, k)
    return [p for p in slots if p >= 0] + [p for p in slots if p < 0]


@cut
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("k", [64, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_gives_the_same_set(
    ops: Any, kind: str, k: int, plan: TopkPlan, g: torch.Generator
) -> None:
    logits, lens, pages = batch(kind, g)
    slots = ops.topk_slots_v2(logits, lens, pages, k, plan=plan)
    for i in range(7):
        assert sorted(slots[i].tolist()) == restate(logits[i], int(lens[i]), pages[i], k)


@cut
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("k", [64, 130])
@pytest.mark.parametrize("levels", [1, 2, 9])
def test_ties_go_to_the_lowest_positions_across_the_borders_of_segments(
    ops: Any, levels: int, k: int, plan: TopkPlan, g: torch.Generator
) -> None:
    values = torch.randint(0, levels, (WIDTH,), generator=g).float()
    logits, lens, pages = rows(values, LENS)
    slots = ops.topk_slots_v2(logits, lens, pages, k, plan=plan)
    for row, length, mine in zip(logits, lens.tolist(), slots.tolist(), strict=True):
        assert mine == picked(row, length, k)


@cut
@pytest.mark.parametrize("plan", PLANS)
def test_what_lies_beyond_a_rows_length_is_never_chosen(
    ops: Any, plan: TopkPlan, g: torch.Generator
) -> None:
    logits, lens, pages = rows(torch.randn(WIDTH, generator=g), LENS)
    slots = ops.topk_slots_v2(
        logits.where(logits.isfinite(), torch.nan), lens, pages, 64, plan=plan
    )
    assert torch.equal(slots, ops.topk_slots_v2(logits, lens, pages, 64, plan=plan))


@pytest.mark.kernels
@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
@settings(max_examples=25, deadline=None, database=None)
@given(
    seed=st.integers(0, 2**32),
    few=st.integers(1, len(SPECIAL)),
    lens=st.lists(st.integers(0, WIDTH), min_size=1, max_size=2),
    k=st.integers(1, 200),
    plan=st.sampled_from(PLANS),
)
def test_any_numbers_of_any_length_are_cut_alike(
    seed: int, few: int, lens: list[int], k: int, plan: TopkPlan
) -> None:
    g = torch.Generator().manual_seed(seed)
    some = torch.tensor(SPECIAL)[torch.randperm(len(SPECIAL), generator=g)[:few]]
    values = some[torch.randint(0, few, (WIDTH,), generator=g)]
    logits, lens, pages = rows(values, lens)
    slots = select_slots(logits, lens, pages, k, plan)
    for row, length, mine in zip(logits, lens.tolist(), slots.tolist(), strict=True):
        assert mine == picked(row, length, k)


def test_arguments_may_have_gaps(device: str, g: torch.Generator) -> None:
    given = [x.to(device) for x in rows(torch.randn(WIDTH, generator=g), LENS)]
    apart = [torch.stack([x, torch.zeros_like(x)], -1)[..., 0] for x in given]
    assert torch.equal(select_slots(*apart, 64), select_slots(*given, 64))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("width", "k", "why"),
    [(8192, 4097, "k is 4097; the kernel keeps at most 4096"), (66, 3, "rows of 66 logits; the k")],
)
def test_what_the_kernel_cannot_count_or_read_is_refused(
    width: int, k: int, why: str, device: str
) -> None:
    logits, lens = torch.zeros(1, width, device=device), torch.tensor([width], device=device).int()
    with pytest.raises(ValueError, match=why):
        select_slots(logits, lens, torch.zeros_like(lens)[:, None], k)


@pytest.mark.parametrize("rows", [1, 4, 64, 128, 500])
@pytest.mark.parametrize("k", [64, 512, 1024])
@pytest.mark.parametrize("width", [64, 2048, 4160, 16384, 65536, 131072, 262144])
def test_a_plan_leaves_registers_for_what_each_thread_holds(rows: int, width: int, k: int) -> None:
    plan = plan_for(rows, width, k)
    kept = -(-width // plan.segment) * k * plan.keep if width > plan.segment else k
    assert plan.segment & (plan.segment - 1) == 0
    assert plan.segment <= 1024 * plan.warps
    assert kept <= 1024 * plan.merge_warps

"""Top-k at production sizes: 512 of the logits of a step, translated to slots.

Rule: `plain` is `torch.topk` alone; ours includes the way through the page table, whose pages are
in order, so that slots are positions and both can be compared.

Choosing inside the kernel that computes the logits would save their way through memory, 8.4 MB or
2 us for 64 x 16,384: but a row's logits come from many programs, which would each have to hold
what they keep until all are there; one kernel behind them should find them in the 60 MB L2. That is
an argument by bytes: a fused kernel was not written and not measured.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from kernels.production.case import Call, Case, Goal
from kernels.topk import topk_slots_v2_triton
from kernels.topk_select import MOST_KEPT, TopkPlan

PAGE = 64
SIZES = ((64, 4096), (64, 16384), (64, 65536), (64, 131072), (128, 16384), (4, 131072))
SMALL = ((3, 256), (2, 640))
PLANS = (
    TopkPlan(2048, 4, 1024, 8),
    TopkPlan(4096, 4, 1024, 16),
    TopkPlan(4096, 8, 2048, 16),
    TopkPlan(8192, 8, 2048, 8),
    TopkPlan(8192, 8, 2048, 16),
    TopkPlan(8192, 8, 2048, 16, keep=2),
    TopkPlan(8192, 16, 2048, 8),
    TopkPlan(16384, 8, 4096, 16, keep=2),
    TopkPlan(16384, 8, 4096),
    TopkPlan(16384, 16, 4096),
    TopkPlan(16384, 32, 4096),
    TopkPlan(16384, 16, 4096, 8, keep=2),
    TopkPlan(16384, 16, 4096, 16, keep=2),
    TopkPlan(16384, 32, 4096, 16, keep=2),
)


class TopkInput(NamedTuple):
    """Logits float32 [rows, width], lens int32 [rows], page table int32 [rows, width / 64]."""

    logits: Tensor
    lens: Tensor
    page_table: Tensor


def cases(device: str, small: bool = False) -> Iterator[Case]:
    """One case a size; 64 x 16,384 is the size of the goal."""
    k = 64 if small else 512
    for rows, width in SMALL if small else SIZES:
        goal = Goal(0.5 if (rows, width) == (64, 16384) else 1.0, "torch")
        yield Case(
            kernel=f"top-{k}",
            size=f"{rows} x {width:,}",
            make=partial(_make, rows, width, device),
            ours=partial(_ours, k, None),
            plain=partial(_plain, k),
            moved_bytes=rows * (width * 4 + width // PAGE * 4 + 4 + k * 4),
            compiles=False,
            goal=goal,
            candidates=_candidates(width, k, small),
            resident_bytes=rows * width * 4,
        )


def _candidates(width: int, k: int, small: bool) -> dict[str, Call]:
    plans = (TopkPlan(128, 4, 128), TopkPlan(256, 4, 128, keep=2)) if small else PLANS
    return {_name(plan): partial(_ours, k, plan) for plan in plans if _fits(plan, width, k)}


def _fits(plan: TopkPlan, width: int, k: int) -> bool:
    if plan.segment >= width:
        return plan.segment == width and plan.keep == 1
    return -(-width // plan.segment) * k * plan.keep <= MOST_KEPT


def _name(plan: TopkPlan) -> str:
    kept = "twice k" if plan.keep == 2 else "k"
    return (
        f"segments of {plan.segment:,}, {plan.warps} warps, {kept} each, "
        f"merged by {plan.merge_warps}"
    )


def _make(rows: int, width: int, device: str, seed: int) -> TopkInput:
    g = torch.Generator(device).manual_seed(seed)
    pages = torch.arange(width // PAGE, dtype=torch.int32, device=device)
    return TopkInput(
        torch.randn(rows, width, generator=g, device=device),
        torch.full((rows,), width, dtype=torch.int32, device=device),
        pages.repeat(rows, 1),
    )


def _ours(k: int, plan: TopkPlan | None, given: TopkInput) -> Tensor:
    return topk_slots_v2_triton(given.logits, given.lens, given.page_table, k, plan)


def _plain(k: int, given: TopkInput) -> Tensor:
    return given.logits.topk(k, dim=1).indices

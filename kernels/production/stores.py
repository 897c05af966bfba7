"""Stores of a prefill chunk: 8,192 rows of index-K or of latents into one layer's pool.

Rule: pages lie in no order, tokens in theirs, as a chunk's do; every row is live.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from kernels.cases import INDEX_K, index_layout, latent_layout
from kernels.fp8 import E4M3_MAX
from kernels.layout import LayerView, PageLayout
from kernels.production.case import Case, Goal
from kernels.store_index_k import MIN_ABSMAX, store_index_k_plan, store_index_k_triton
from kernels.store_latent import (
    GROUP,
    GROUPS,
    NOPE,
    latent_planes,
    store_latent_plan,
    store_latent_triton,
)
from kernels.stored_rows import StorePlan

TOKENS, SMALL = 8_192, 33
GOAL = Goal(1.5, "floor")
INDEX_PLANS = [
    *(StorePlan(*cut, 4) for cut in ((4, 1), (8, 1), (8, 2), (16, 2), (32, 4))),
    *(StorePlan(*cut, 4, "early") for cut in ((8, 1), (16, 1), (8, 2), (16, 2), (32, 4), (32, 8))),
    StorePlan(32, 4, 4, "overlapped"),
]
LATENT_PLANS = [
    *(StorePlan(*cut, 8) for cut in ((16, 8), (32, 16), (64, 32))),
    *(StorePlan(*cut, 8, "early") for cut in ((2, 1), (4, 2), (8, 4), (16, 8), (32, 16), (64, 32))),
    *(StorePlan(*cut, 8, "overlapped") for cut in ((8, 4), (32, 16))),
]


@dataclass(frozen=True, eq=False)
class Inputs:
    """Arguments of a store: `rows` float32 or bfloat16 [N, width], `slots` int64 [N], `live`."""

    dst: LayerView
    rows: Tensor
    slots: Tensor
    live: Tensor


def cases(device: str, small: bool = False) -> Iterator[Case]:
    """Index-K in both formats, then latents; float32 rows, then bfloat16 ones, whose bytes take
    less than a launch and which have no goal.
    """
    for dtype in (torch.float32, torch.bfloat16):
        for name in INDEX_K:
            yield _case(device, small, f"store index-K {name}", index_layout(name), dtype)
        yield _case(device, small, "store latent", latent_layout(64, 1), dtype)


def _case(device: str, small: bool, kernel: str, layout: PageLayout, dtype: torch.dtype) -> Case:
    count, latent = SMALL if small else TOKENS, kernel == "store latent"
    wide = dtype == torch.float32
    width = 512 if latent else 128
    token_bytes = sum(p.row_bytes for p in layout.planes)
    told = 9 if latent else 17  # slot and live, and for index-K the slot that was written
    row_bytes = width * (4 if wide else 2)
    moved = count * (row_bytes + token_bytes + told)
    ours: Callable[..., object] = _store_latent if latent else _store_index_k
    plans = (LATENT_PLANS if latent else INDEX_PLANS) if wide else []
    chosen = (store_latent_plan if latent else store_index_k_plan)(count)
    return Case(
        kernel=kernel,
        size=f"{count:,} tokens of {str(dtype).removeprefix('torch.')}",
        make=partial(_inputs, device, layout, count, width, dtype),
        ours=ours,
        plain=_plain_latent if latent else _plain_index_k,
        moved_bytes=moved,
        goal=GOAL if wide else None,
        candidates={_name(plan): partial(ours, plan=plan) for plan in plans},
        alone=partial(ours, plan=replace(chosen, began="alone")),
        resident_bytes=moved,
    )


def _name(plan: StorePlan) -> str:
    return f"{plan.rows} rows, {plan.warps} warps, {plan.parts} parts, {plan.began}"


def _inputs(
    device: str, layout: PageLayout, count: int, width: int, dtype: torch.dtype, seed: int
) -> Inputs:
    g = torch.Generator(device).manual_seed(seed)
    pages = -(-count // layout.page_tokens)
    order = 1 + torch.randperm(pages, device=device, generator=g)
    tokens = torch.arange(layout.page_tokens, device=device)
    slots = (order[:, None] * layout.page_tokens + tokens).flatten()[:count]
    rows = torch.randn(count, width, device=device, generator=g)
    size = torch.randn(count, 1, device=device, generator=g).exp()
    dst = layout.layer(layout.allocate(pages + 1, device), 0)
    live = torch.ones(count, dtype=torch.bool, device=device)
    return Inputs(dst, (rows * size).to(dtype), slots, live)


def _store_index_k(it: Inputs, plan: StorePlan | None = None) -> Tensor:
    return store_index_k_triton(it.dst, it.rows, it.slots, it.live, plan)


def _store_latent(it: Inputs, plan: StorePlan | None = None) -> None:
    store_latent_triton(it.dst, it.rows, it.slots, it.live, plan)


def _written(it: Inputs) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """The slot that each row writes, -1 where it writes none, and its page and token: those of slot
    0, which nobody reads, where it writes none.
    """
    wrote = torch.where(it.live & (it.slots > 0), it.slots, -1)
    to, tokens = wrote.clamp(min=0), it.dst.layout.page_tokens
    return wrote, (to // tokens, to % tokens)


def _plain_index_k(it: Inputs) -> Tensor:
    wrote, at = _written(it)
    value, key = it.dst.rows("value"), it.rows.float()
    if len(it.dst.layout.planes) == 1:
        value[at] = key.to(torch.bfloat16).view(torch.uint8)
        return wrote
    size = key.abs().nan_to_num(0.0, torch.inf).amax(1, keepdim=True).clamp(min=MIN_ABSMAX)
    scale = size / torch.full_like(size, E4M3_MAX)  # by a number: its rounded inverse, on a GPU
    value[at] = _e4m3(key / scale)
    it.dst.plane("scale")[at] = scale
    return wrote


def _plain_latent(it: Inputs) -> None:
    _, at = _written(it)
    nope, rope, scale = latent_planes(it.dst)
    groups = it.rows[:, :NOPE].float().view(-1, GROUPS, GROUP)
    size = groups.abs().nan_to_num(0.0, torch.inf).amax(2, keepdim=True).clamp(min=MIN_ABSMAX)
    power = torch.ceil(torch.log2(size / torch.full_like(size, E4M3_MAX)))
    nope[at] = _e4m3(groups / torch.exp2(power)).flatten(1)
    rope[at] = it.rows[:, NOPE:].to(torch.bfloat16).view(torch.int16)
    scale[at] = torch.nn.functional.pad((power.squeeze(2) + 127).to(torch.uint8), (0, 1))


def _e4m3(values: Tensor) -> Tensor:
    return values.clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn).view(torch.uint8)

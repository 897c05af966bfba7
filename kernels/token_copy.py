"""Copies of single tokens: the bytes of each plane's row, wherever each side keeps it.

Rule: a slot is found by the layout of the side that it belongs to; no geometry is assumed. So a
token's ``contiguous_token_bytes`` are the row of each plane, whatever pool and dtype it is of.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from dataclasses import dataclass

from torch import Tensor

from kernels.jit import jit, require, tl
from kernels.layout import LayerView
from kernels.stored_rows import page_and_token
from kernels.units import units


@dataclass(frozen=True)
class TokenCopyPlan:
    """How a copy is cut up: `block` units (kernels.units) a program of `warps` warps."""

    block: int
    warps: int


def token_copy_plan() -> TokenCopyPlan:
    """How a copy is cut up, whatever it copies: rows are cut without regard to tokens."""
    return TokenCopyPlan(block=256, warps=4)


def token_copy_ref(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
) -> None:
    """Copies each of `src_slots` to `dst_slots` (int64 [N], >= 0; no slot twice in `dst_slots`).

    Rows whose `live` (bool [N], None = all) is False are skipped, whatever their slots. The sides
    may differ in page size, strides and device. Raises ValueError if their planes differ.
    """
    _same_planes(dst, src)
    if live is not None:
        dst_slots = dst_slots[live.to(dst_slots.device)]
        src_slots = src_slots[live.to(src_slots.device)]
    if len(src_slots) == 0:
        return
    frm, to = src_slots.to(src.pages.device), dst_slots.to(dst.pages.device)
    for plane in dst.layout.planes:
        dst.scatter(plane.name, to, src.gather(plane.name, frm).to(to.device))


def _same_planes(dst: LayerView, src: LayerView) -> None:
    if dst.layout.planes != src.layout.planes:
        raise ValueError(f"tokens of {src.layout.planes} cannot go to {dst.layout.planes}")


@jit
def _copy_rows(
    block, dst, src, dst_slots, src_slots, live, COUNT, d_page, d_tok, s_page, s_tok,
    MASKED: tl.constexpr, D_TOKENS: tl.constexpr, S_TOKENS: tl.constexpr, WIDTH: tl.constexpr,
    PER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # int64 before the multiply; what is left for each lane to divide is small
    first = block.to(tl.int64) * BLOCK
    unit = (first % WIDTH).to(tl.int32) + tl.arange(0, BLOCK)
    i, col = first // WIDTH + unit // WIDTH, unit % WIDTH
    seen = i < COUNT
    # slots of dead rows are read too, nothing at them: one load need not wait for another
    page, tok = page_and_token(tl.load(src_slots + i, mask=seen, other=0), S_TOKENS)
    frm = page * s_page + tok * s_tok + col
    page, tok = page_and_token(tl.load(dst_slots + i, mask=seen, other=0), D_TOKENS)
    to = page * d_page + tok * d_tok + col
    if MASKED:
        seen = seen & (tl.load(live + i, mask=seen, other=0) != 0)
    word, seen = tl.arange(0, PER)[None, :], seen[:, None]
    part = tl.load(src + frm[:, None] * PER + word, mask=seen)
    tl.store(dst + to[:, None] * PER + word, part, mask=seen)


@jit
def _token_copy_kernel(
    dst, src, d_page, d_tok, s_page, s_tok, dst_2, src_2, d_page_2, d_tok_2, s_page_2, s_tok_2,
    dst_slots, src_slots, live, COUNT, BLOCKS, MASKED: tl.constexpr, D_TOKENS: tl.constexpr,
    S_TOKENS: tl.constexpr, WIDTH: tl.constexpr, PER: tl.constexpr, WIDTH_2: tl.constexpr,
    PER_2: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    if block < BLOCKS:
        _copy_rows(
            block, dst, src, dst_slots, src_slots, live, COUNT, d_page, d_tok, s_page, s_tok,
            MASKED, D_TOKENS, S_TOKENS, WIDTH, PER, BLOCK,
        )  # fmt: skip
    else:
        _copy_rows(
            block - BLOCKS, dst_2, src_2, dst_slots, src_slots, live, COUNT, d_page_2, d_tok_2,
            s_page_2, s_tok_2, MASKED, D_TOKENS, S_TOKENS, WIDTH_2, PER_2, BLOCK,
        )  # fmt: skip


def token_copy_triton(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
    plan: TokenCopyPlan | None = None,
) -> None:
    """`token_copy_ref` as programs that each copy a block of units of a plane's rows, two planes a
    launch; nothing waits for the device. Either side may be pinned host memory, which the GPU
    addresses itself.
    """
    require()
    _same_planes(dst, src)
    count = len(src_slots)
    if count == 0:
        return
    plan = plan or token_copy_plan()
    device = (dst if dst.pages.is_cuda else src).pages.device
    to, frm = (each.to(device).contiguous() for each in (dst_slots, src_slots))
    mask = to if live is None else live.to(device).contiguous()
    planes = [units(dst.rows(p.name), src.rows(p.name)) for p in dst.layout.planes]
    for i in range(0, len(planes), 2):
        pair = planes[i : i + 2]
        blocks = [-(-count * side.width // plan.block) for side, _ in pair]
        one, two = pair[0], pair[-1]
        sides = [x for d, s in (one, two) for x in (d.words, s.words, *d.strides, *s.strides)]
        shapes = [x for d, _ in (one, two) for x in (d.width, d.per)]
        _token_copy_kernel[(sum(blocks),)](
            *sides, to, frm, mask, count, blocks[0], live is not None, dst.layout.page_tokens,
            src.layout.page_tokens, *shapes, plan.block, num_warps=plan.warps,
        )  # fmt: skip

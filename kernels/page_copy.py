"""Copies of whole page rows: page i of one pool's layers to page j of another's, byte for byte.

Rule: each side is addressed by its own strides, and a row is as long as the shorter of the two.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from dataclasses import dataclass

from torch import Tensor

from kernels.jit import jit, require, tl
from kernels.units import units

LINE_BYTES = 128  # what a GPU asks of host memory at a time


@dataclass(frozen=True)
class PageCopyPlan:
    """How a copy is cut up: at most `programs` (0: as many as blocks) of `warps` warps, each taking
    every so manieth `block` of units (kernels.units); `by_dst` says whose memory lines, of `line`
    bytes, the accesses keep to, `read` and `write` are Triton's cache modifiers; `join`: layers
    that lie end to end there are one row.
    """

    block: int
    warps: int
    programs: int
    by_dst: bool
    read: str = ""
    write: str = ""
    join: bool = True
    line: int = LINE_BYTES


def page_copy_plan(dst_on_device: bool, src_on_device: bool, row_bytes: int) -> PageCopyPlan:
    """How a copy is cut up, by where its sides are and how long a row is: few programs keep a link
    busy, and accesses keep to the host's lines.
    """
    short = row_bytes <= 2048 - LINE_BYTES
    if dst_on_device and src_on_device:
        return PageCopyPlan(block=128 if short else 512, warps=4, programs=0, by_dst=True)
    by_dst = not dst_on_device
    if short:
        return PageCopyPlan(block=128, warps=4, programs=528, by_dst=by_dst)
    return PageCopyPlan(block=512, warps=4, programs=528, by_dst=by_dst)


def page_copy_ref(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> None:
    """Copies `src_pages` of `src` to `dst_pages` of `dst` (int64 [N], in range), every layer.

    Both sides are uint8 `[page, layer, bytes]` views, strided over pages and layers, on any device.
    No page twice in `dst_pages`, none of them a source too. Raises ValueError if layers or counts
    differ.
    """
    to, frm = _same_rows(dst, src, dst_pages, src_pages)
    if to.device.type == frm.device.type == "cpu":
        _copy_rows(to, frm, dst_pages.tolist(), src_pages.tolist())
        return
    rows = frm.index_select(0, src_pages.to(frm.device))
    to.index_copy_(0, dst_pages.to(to.device), rows.to(to.device))


def _same_rows(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> list[Tensor]:
    if dst.shape[1] != src.shape[1]:
        raise ValueError(f"a page of {src.shape[1]} layers cannot go to one of {dst.shape[1]}")
    if len(dst_pages) != len(src_pages):
        raise ValueError(f"{len(src_pages)} pages cannot go to {len(dst_pages)}")
    width = min(dst.shape[2], src.shape[2])
    return [side[:, :, :width] for side in (dst, src)]


def _copy_rows(dst: Tensor, src: Tensor, dst_pages: list[int], src_pages: list[int]) -> None:
    # numpy's assignment is a memcpy a row and half a microsecond a page; torch's index_select and
    # index_copy_ move a tenth to a half of its bytes a second, Tensor.copy_ as many on large rows
    to, frm = dst.numpy(), src.numpy()
    for i, j in zip(dst_pages, src_pages, strict=True):
        to[i] = frm[j]


@jit
def _page_copy_kernel(
    dst, src, dst_pages, src_pages, d_page, d_layer, s_page, s_layer, LEAD, WIDTH, RUN, RUNS,
    BLOCKS, STEPS, LINE: tl.constexpr, PER: tl.constexpr, BY_DST: tl.constexpr,
    JOINED: tl.constexpr, READ: tl.constexpr, WRITE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    word = tl.arange(0, PER)[None, :]
    for step in range(tl.program_id(0), STEPS, tl.num_programs(0)):
        row, block = step // BLOCKS, step % BLOCKS
        i, layer = row // RUNS, (row % RUNS).to(tl.int64)
        # int64 before the multiply: page * stride passes 2**31 on a pool of a few GiB
        to = tl.load(dst_pages + i).to(tl.int64) * d_page + layer * d_layer
        frm = tl.load(src_pages + i).to(tl.int64) * s_page + layer * s_layer
        # a row begins where its line does, its first lanes idle: no access crosses a line
        spare = (((to if BY_DST else frm) + LEAD) % LINE).to(tl.int32)
        # int32: a row, even of joined layers, has fewer than 2**31 units
        at = block * BLOCK - spare + tl.arange(0, BLOCK)
        seen = ((at >= 0) & (at < RUN))[:, None]
        to, frm = to + at, frm + at
        if JOINED:  # the other side's layers are farther apart than a row is long
            layer = (at // WIDTH).to(tl.int64)
            if BY_DST:
                frm += layer * (s_layer - WIDTH)
            else:
                to += layer * (d_layer - WIDTH)
        part = tl.load(src + frm[:, None] * PER + word, mask=seen, cache_modifier=READ)
        tl.store(dst + to[:, None] * PER + word, part, mask=seen, cache_modifier=WRITE)


def page_copy_triton(
    dst: Tensor,
    src: Tensor,
    dst_pages: Tensor,
    src_pages: Tensor,
    plan: PageCopyPlan | None = None,
) -> None:
    """`page_copy_ref` as programs that each copy block after block of rows; either side may be
    pinned host memory, which the GPU addresses itself.
    """
    require()
    sides = _same_rows(dst, src, dst_pages, src_pages)
    if 0 in (len(dst_pages), *sides[0].shape[1:]):
        return
    plan = plan or page_copy_plan(dst.is_cuda, src.is_cuda, sides[0].shape[2])
    to, frm = units(*sides)
    kept, layers = to if plan.by_dst else frm, dst.shape[1]
    joined = plan.join and layers > 1 and kept.strides[1] == kept.width
    run, runs = (to.width * layers, 1) if joined else (to.width, layers)
    line, lead = plan.line // kept.size, kept.words.data_ptr() % plan.line // kept.size
    blocks = -(-(run + line - 1) // plan.block)
    steps, device = len(dst_pages) * runs * blocks, (dst if dst.is_cuda else src).device
    ids = [each.to(device).contiguous() for each in (dst_pages, src_pages)]
    _page_copy_kernel[(min(steps, plan.programs or steps),)](
        to.words, frm.words, *ids, *to.strides, *frm.strides,
        lead, to.width, run, runs, blocks, steps, line, to.per, plan.by_dst, joined, plan.read,
        plan.write, plan.block, num_warps=plan.warps,
    )  # fmt: skip

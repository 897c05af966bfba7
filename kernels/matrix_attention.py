"""Sparse attention of many heads on the matrix units: bfloat16 queries, latents decoded in the
kernel to bfloat16 (exact: a code has four significant bits), sums in float32.

Rule: a latent is fetched once for all heads of a program, and a row that is dead reads as zeros.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from kernels.fp8 import e4m3_value, ue8m0_value
from kernels.jit import INTERPRETED, jit, overlaps, tl
from kernels.store_latent import LATENT, NOPE

if TYPE_CHECKING:
    from kernels.layout import LayerView
    from kernels.sparse_attention import Segment

HEADS = 64  # of a program: the rows of one matrix instruction
BLOCK = 64  # latents of a product; 32 and 128 are slower at every number of rows
PROCESSORS = 132  # an H200's; a program takes one to itself
COMBINED = 8  # (row, head) pairs of a program that combines
LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)


@dataclass(frozen=True)
class AttentionPlan:
    """How a call is cut: latents a program reads, and how launches and blocks follow each other."""

    chunk: int
    overlap: bool = True  # a launch begins while the one before it ends

    def __post_init__(self) -> None:
        if self.chunk < BLOCK or self.chunk % BLOCK:
            raise ValueError(f"a chunk of {self.chunk} latents; one has a multiple of {BLOCK}")


def plan_for(rows: int, heads: int, latents: int) -> AttentionPlan:
    """The plan for a segment of `latents` slots a row, the chunk with the shortest critical path.

    Counted in the time of one BLOCK: a wave of PROCESSORS programs takes as many as a chunk has,
    and two to begin and end; combining chunks one and a half more. Of equals the longest chunk.
    """
    blocks, groups = max(1, -(-latents // BLOCK)), -(-heads // HEADS)

    def cost(share: int) -> float:
        splits = -(-blocks // share)
        waves = -(-rows * groups * splits // PROCESSORS)
        return waves * (share + 2) + (1.5 if splits > 1 else 0)

    return AttentionPlan(BLOCK * min(range(blocks, 0, -1), key=cost))


@jit
def _group(code, at, live, words, G: tl.constexpr, NATIVE: tl.constexpr):
    # 64 codes of a row times their scale, [rows, 64]
    raw = tl.load(code + at + (G * 64 + tl.arange(0, 64))[None, :], mask=live, other=0)
    unit = ((words >> (8 * G)) & 0xFF).to(tl.int32)
    if NATIVE:
        # there is no instruction from e4m3 to bf16
        value = raw.to(tl.float8e4nv, bitcast=True).to(tl.float32).to(tl.bfloat16)
        # 2**-127, a subnormal, and NaN have one bit below the exponent
        bits = (unit << 7) | tl.where(((unit + 1) & 0xFF) < 2, 0x40, 0)
        value *= bits.to(tl.int16).to(tl.bfloat16, bitcast=True)[:, None]
    else:  # the interpreter's cast reads a NaN code as 480, and it multiplies no bf16 matrices
        value = e4m3_value(raw) * ue8m0_value(unit.to(tl.uint8))[:, None]
    return value


@jit
def _latents(code, rope, at, live, words, NATIVE: tl.constexpr):
    # latents as matrices take them, [rows, 512]: seven groups of codes and their scales, then rope.
    # Group by group, so that a thread has one row and knows its group without asking
    at, live = at[:, None], live[:, None]
    a = _group(code, at, live, words, 0, NATIVE)
    b = _group(code, at, live, words, 1, NATIVE)
    last = tl.load(rope + at // 2 + tl.arange(0, 64)[None, :], mask=live, other=0.0).to(a.dtype)
    a = tl.join(a, _group(code, at, live, words, 4, NATIVE))
    b = tl.join(b, _group(code, at, live, words, 5, NATIVE))
    c = _group(code, at, live, words, 2, NATIVE)
    c = tl.join(c, _group(code, at, live, words, 6, NATIVE))
    d = tl.join(_group(code, at, live, words, 3, NATIVE), last)
    whole = tl.join(tl.join(a, c), tl.join(b, d))  # [rows, 64] and the bits of the group
    return whole.permute(0, 2, 3, 4, 1).reshape(words.shape[0], 512)


@jit
def _seen(product, live, N):
    # scores, -inf where a slot is dead. Triton gives a product that leads to another one whole rows
    # for each warp: of 64 rows, both halves of eight warps would compute all. It looks for the
    # other product through values, not through the result of a branch; N is above 0, but Triton
    # cannot know it
    if N > 0:
        product = tl.where(live[None, :], product, float("-inf"))
    return product


@jit
def _log(total):
    # of a sum that may be empty: -inf, without a warning of the interpreter
    return tl.where(total == 0.0, float("-inf"), tl.log(tl.where(total == 0.0, 1.0, total)))


@jit
def _above(sink, top):
    # exp(sink - top), cut off where the values beside such a sink vanish anyway
    return tl.exp(tl.minimum(sink - top, 80.0))


@jit
def _walk(
    query, slots, code, rope, scale, code_page, scale_page, b, first, last, N,
    TOKENS: tl.constexpr, BLOCK: tl.constexpr, FULL: tl.constexpr, NATIVE: tl.constexpr,
):  # fmt: skip
    # one softmax over latents first .. last, not yet divided: (values, its maximum, its sum)
    acc = tl.zeros((64, 512), tl.float32)
    top, total = tl.full((64,), -1e30, tl.float32), tl.zeros((64, 2, 8), tl.float32)
    # five stages: two blocks of raw rows are on their way while one is worked on
    for start in tl.range(first, last, BLOCK, num_stages=5):
        i = start + tl.arange(0, BLOCK)
        slot = tl.load(slots + b * N + i, mask=None if FULL else i < N, other=None if FULL else -1)
        live, page, tok = slot >= 0, slot.to(tl.uint32) // TOKENS, slot.to(tl.uint32) % TOKENS
        page = page.to(tl.int64)  # of a dead slot: anything
        words = tl.load(scale + page * scale_page + tok, mask=live, other=0)
        key = _latents(code, rope, page * code_page + tok * 576, live, words, NATIVE)
        score = _seen(tl.dot(query, key.T), live, N)
        old, top = top, tl.maximum(top, tl.max(score, axis=1))
        weight = tl.exp2(score * LOG2E - (top * LOG2E)[:, None])
        # sums that a thread can do alone; those of all threads are taken once, at the end
        part = tl.sum(weight.reshape(64, 2, BLOCK // 16, 8), axis=2)
        fade = tl.exp2((old - top) * LOG2E)
        total, acc = total * fade[:, None, None] + part, acc * fade[:, None]
        acc = tl.dot(weight.to(key.dtype), key, acc)
    return acc, top, tl.sum(total.reshape(64, 16), axis=1)


@jit
def _attend_kernel(
    q, slots, bias, sink, out, lse, code, rope, scale, code_page, scale_page, N, H,
    place, CHUNKS: tl.constexpr, TOKENS: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr,
    FULL: tl.constexpr, NATIVE: tl.constexpr, OVERLAP: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    # latents CHUNK * y .. of one segment
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(2) * 64 + tl.arange(0, 64)
    real, row, c = h < H, b * H + h, tl.arange(0, 512)[None, :]
    first = tl.program_id(1) * CHUNK
    last = tl.minimum(first + CHUNK, N)
    if OVERLAP:
        # what is read may still be written by a launch before this call: the first segment's
        # programs wait for it, each before it lets dependents in. Those of the next segment begin
        # once all of these did, so that they may read at once, and so on to the last
        if FIRST:
            tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()
    # what the end asks for is read at the start, where all wait together
    extra = tl.load(bias + h, mask=real, other=float("-inf"))
    below = tl.load(sink + h, mask=real, other=0.0)
    query = tl.load(q + row[:, None] * 512 + c, mask=real[:, None], other=0.0)
    query = query if NATIVE else query.to(tl.float32)
    acc, top, total = _walk(
        query, slots, code, rope, scale, code_page, scale_page, b, first, last, N,
        TOKENS, BLOCK, FULL, NATIVE)  # fmt: skip
    read = extra > float("-inf")
    if OVERLAP and not FIRST:
        tl.extra.cuda.gdc_wait()  # who waits for this launch waits for those before it
    top, row = top + extra, row * CHUNKS + place + tl.program_id(1)
    tl.store(lse + row, tl.where(read, _log(total) + top, float("-inf")), mask=real)
    if CHUNKS == 1:
        total += _above(below, top)
    share = 1.0 / tl.maximum(total, 1e-37)
    # a head that does not read the segment shows no NaN of it
    acc = tl.where(read[:, None], acc * share[:, None], 0.0)
    tl.store(out + row[:, None] * 512 + c, acc.to(out.dtype.element_ty), mask=real[:, None])


@jit
def _combine_kernel(
    part, part_lse, sink, out, lse, count, H, CHUNKS: tl.constexpr, ROWS: tl.constexpr,
    OVERLAP: tl.constexpr,
):  # fmt: skip
    # one softmax of (row, head) from those of its chunks, and the sink
    if OVERLAP:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    real, c = row < count, tl.arange(0, 512)[None, :]
    top, total = tl.full((ROWS,), -1e30, tl.float32), tl.zeros((ROWS,), tl.float32)
    for i in range(CHUNKS):
        top = tl.maximum(top, tl.load(part_lse + row * CHUNKS + i, mask=real, other=0.0))
    acc = tl.zeros((ROWS, 512), tl.float32)
    for i in range(CHUNKS):
        at = row * CHUNKS + i
        weight = tl.exp(tl.load(part_lse + at, mask=real, other=0.0) - top)
        total += weight
        more = tl.load(part + at[:, None] * 512 + c, mask=real[:, None], other=0.0)
        acc += weight[:, None] * more
    extra = tl.load(sink + row % H, mask=real, other=0.0)
    share = 1.0 / tl.maximum(total + _above(extra, top), 1e-37)
    tl.store(lse + row, _log(total) + top, mask=real)
    acc *= share[:, None]
    tl.store(out + row[:, None] * 512 + c, acc.to(out.dtype.element_ty), mask=real[:, None])


def matrix_attention(
    q: Tensor,
    segments: tuple[Segment, ...],
    bias: Tensor,
    sink: Tensor,
    plan: AttentionPlan | None = None,
) -> tuple[Tensor, Tensor]:
    """`sparse_attention_ref` of bfloat16 q [B, H, 512]: out bfloat16, lse float32.

    Weights are rounded to bfloat16 before they meet the values. One launch a segment; chunks, if
    there are several, are float32 until a last launch combines them.
    """
    (batch, heads, _), widths = q.shape, [s.slots.shape[1] for s in segments]
    plans = [plan or plan_for(batch, heads, width) for width in widths]
    splits = [-(-width // p.chunk) for width, p in zip(widths, plans, strict=True)]
    chunks, q, bias, place = sum(splits), q.contiguous(), bias.t().contiguous(), 0
    sink = sink.contiguous()
    out, lse = torch.empty_like(q), q.new_empty(batch, heads, dtype=torch.float32)
    if batch == 0 or chunks == 0:
        return out.zero_(), lse.fill_(-torch.inf)
    shape = (batch, heads, chunks)
    part = out if chunks == 1 else q.new_empty(*shape, LATENT, dtype=torch.float32)
    part_lse = lse if chunks == 1 else q.new_empty(shape, dtype=torch.float32)
    overlap = all(p.overlap for p in plans) and overlaps()
    pdl = {"launch_pdl": True} if overlap else {}
    slots = [s.slots.contiguous() for s in segments]  # a copy may not come between the launches
    for i, (s, split, p) in enumerate(zip(segments, splits, plans, strict=True)):
        if split:
            planes = _planes(s.view)
            _attend_kernel[(batch, split, -(-heads // HEADS))](
                q, slots[i], bias[i], sink, part, part_lse,
                *planes, planes[0].stride(0), planes[2].stride(0), widths[i], heads, place,
                chunks, s.view.layout.page_tokens, p.chunk, BLOCK, widths[i] % BLOCK == 0,
                not INTERPRETED, overlap, place == 0, num_warps=8, **pdl,
            )  # fmt: skip
        place += split
    if chunks > 1:
        count = batch * heads
        _combine_kernel[(-(-count // COMBINED),)](
            part, part_lse, sink, out, lse, count, heads, chunks, COMBINED, overlap,
            **pdl,
        )  # fmt: skip
    return out, lse


def _planes(view: LayerView) -> tuple[Tensor, Tensor, Tensor]:
    """Codes uint8 [page, token, 448], rope bfloat16 [page, token, 64], a row's scales as one word:
    int64 [page, token, 1].
    """
    value = view.plane("value")
    rope = value.view(torch.bfloat16)[..., NOPE // 2 :]
    return value[..., :NOPE], rope, view.plane("scale").view(torch.int64)

"""Sparse attention over gathered latents: one softmax a head over all segments and a sink; K and V
are the same row.

Rule: a slot of -1 is not seen, whatever bytes lie where it would be; a NaN in a row that is seen
shows.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.fp8 import bf16_value, e4m3_value, ue8m0_value
from kernels.jit import jit, require, tl
from kernels.latent import Span, read_latents
from kernels.layout import LayerView
from kernels.matrix_attention import AttentionPlan, matrix_attention
from kernels.store_latent import LATENT, NOPE, ROPE, latent_planes

CHUNK_ROWS = 4096  # latents decoded at a time: their float32 values stay near the cores


@dataclass(frozen=True)
class Segment:
    """Rows of one pool that a batch may read: `slots` int32 [B, N] of that pool, -1 = dead."""

    view: LayerView
    slots: Tensor


def sparse_attention_ref(
    q: Tensor,
    segments: tuple[Segment, ...],
    bias: Tensor,
    sink: Tensor,
    *,
    rope_only: bool = False,
    dims: tuple[int, int] | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of float32 q [B, H, 512], or [B, H, 64] when `rope_only` (rope dims alone score).

    bias float32 [H, segments]: 0 where a head reads a segment, -inf where not. sink float32 [H]
    adds exp(sink) to the denominator only. Returns out float32 [B, H, hi - lo] for the half-open
    `dims` (default all 512), and lse float32 [B, H]: log sum exp of the seen scores without the
    sink (as FlashMLA has it); a row that sees nothing gives 0 and -inf. bfloat16 q gives bfloat16
    out.
    """
    if q.dtype == torch.bfloat16:
        out, lse = sparse_attention_ref(
            q.float(), segments, bias, sink, rope_only=rope_only, dims=dims
        )
        return out.bfloat16(), lse
    span, readers = Span.of(dims, rope_only), bias.tolist()
    step = max(1, CHUNK_ROWS // sum(s.slots.shape[1] for s in segments))
    out = q.new_empty(*q.shape[:2], span.width)
    lse = q.new_empty(q.shape[:2])
    for i in range(0, len(q), step):
        part = slice(i, i + step)
        reads = [
            _Read.of(Segment(s.view, s.slots[part]), [row[n] for row in readers], span)
            for n, s in enumerate(segments)
        ]
        lse[part] = _attend(q[part], reads, sink, out[part])
    return out, lse


@dataclass(frozen=True)
class _Read:
    """One segment of a block of batch rows, decoded: rows [B, N, ...], and who reads them."""

    nope: Tensor
    rope: Tensor
    values: tuple[Tensor, Tensor]
    dead: Tensor | None  # bool [B, 1, N]
    heads: list[int]
    bias: list[float]  # of those heads
    all_heads: bool

    @classmethod
    def of(cls, segment: Segment, bias: list[float], span: Span) -> "_Read":
        """Decodes a segment for the heads whose `bias` is above -inf."""
        slots, heads = segment.slots, [h for h, b in enumerate(bias) if b > -math.inf]
        rows = read_latents(segment.view, slots.flatten(), span)
        nope, rope = (x.view(*slots.shape, x.shape[1]) for x in (rows.nope, rows.rope))
        values = nope[..., span.nope], rope[..., span.rope]
        dead = (slots < 0)[:, None] if rows.dead else None
        return cls(
            nope, rope, values, dead, heads, [bias[h] for h in heads], heads == [*range(len(bias))]
        )

    def scores(self, q: Tensor) -> Tensor:
        """[B, heads, N] of q [B, heads, ...] of the reading heads; -inf where a slot is dead."""
        scores = score_rows(q, self.nope, self.rope)
        if any(self.bias):
            scores.add_(q.new_tensor(self.bias)[:, None])
        return scores if self.dead is None else scores.masked_fill_(self.dead, -torch.inf)


def _attend(q: Tensor, reads: list[_Read], sink: Tensor, out: Tensor) -> Tensor:
    """Attention of one block of batch rows into `out`; the lse. Only readers touch a segment."""
    if len(reads) == 1 and reads[0].all_heads:
        weight, lse = softmax_weights(reads[0].scores(q), sink)
        mix_values(weight, *reads[0].values, out)
        return lse
    widths = [r.rope.shape[1] for r in reads]
    scores = q.new_full((*q.shape[:2], sum(widths)), -torch.inf)
    for read, part in zip(reads, scores.split(widths, 2), strict=True):
        part[:, read.heads] = read.scores(q[:, read.heads])
    weight, lse = softmax_weights(scores, sink)
    out.zero_()
    for read, part in zip(reads, weight.split(widths, 2), strict=True):
        mix = out.new_empty(len(q), len(read.heads), out.shape[2])
        mix_values(part[:, read.heads], *read.values, mix)
        out[:, read.heads] += mix
    return lse


def score_rows(q: Tensor, nope: Tensor, rope: Tensor) -> Tensor:
    """q [B, M, 64 or 512] times keys [B, N, 448] and [B, N, 64], or the latter alone: [B, M, N]."""
    keys = rope.transpose(1, 2)
    if q.shape[2] == ROPE:
        return torch.bmm(q, keys)
    scores = torch.bmm(q[..., :NOPE], nope.transpose(1, 2))
    return scores.baddbmm_(q[..., NOPE:], keys)


def softmax_weights(scores: Tensor, sink: Tensor) -> tuple[Tensor, Tensor]:
    """Weights [..., H, N], in place of the scores, and the lse [..., H] without the sink."""
    top = scores.amax(-1, keepdim=True).clamp_(min=-1e30)
    weight = scores.sub_(top).exp_()
    total = weight.sum(-1, keepdim=True)
    lse = (total.log() + top).squeeze(-1)
    total.add_((sink[:, None] - top).exp_()).clamp_(min=1e-38)
    return weight.mul_(total.reciprocal_()), lse


def mix_values(weight: Tensor, nope: Tensor, rope: Tensor, out: Tensor) -> None:
    """weight [B, M, N] times values [B, N, D] and [B, N, R] into `out` [B, M, D + R]."""
    if rope.shape[2] == 0:
        torch.bmm(weight, nope, out=out)
    elif nope.shape[2] == 0:
        torch.bmm(weight, rope, out=out)
    else:
        torch.cat([torch.bmm(weight, nope), torch.bmm(weight, rope)], 2, out=out)


@jit
def _latent_rows(nope, rope, scale, slot, live, n_page, n_tok, r_page, r_tok, s_page, s_tok,
                 first, stop, TOKENS: tl.constexpr):  # fmt: skip
    # decodes no-position dims first .. stop as [rows, 512] and rope dims as [rows, 64]
    page, tok = slot // TOKENS, slot % TOKENS
    c, r = tl.arange(0, 512), tl.arange(0, 64)
    want = live[:, None] & ((c >= first) & (c < stop))[None, :]
    at = (page * n_page + tok * n_tok)[:, None] + c[None, :]
    code = tl.load(nope + at, mask=want, other=0)
    at = (page * s_page + tok * s_tok)[:, None] + (c // 64)[None, :]
    unit = tl.load(scale + at, mask=want, other=0)
    at = (page * r_page + tok * r_tok)[:, None] + r[None, :]
    bits = tl.load(rope + at, mask=live[:, None], other=0)
    return e4m3_value(code) * ue8m0_value(unit), bf16_value(bits)


@jit
def _attend_kernel(
    q, slots, bias, acc, top, total, nope, rope, scale,
    n_page, n_tok, r_page, r_tok, s_page, s_tok, N, lo, hi, first, stop,
    HEADS: tl.constexpr, ROPE_ONLY: tl.constexpr, TOKENS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # one more segment of an online softmax: (acc, top, total) of (row, head) go on from memory
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    row, c, r = b * HEADS + h, tl.arange(0, 512), tl.arange(0, 64)
    extra = tl.load(bias + h)
    WIDTH: tl.constexpr = 64 if ROPE_ONLY else 512  # columns of q, rope last
    q_rope = tl.load(q + row * WIDTH + (WIDTH - 64) + r)
    q_nope = tl.load(q + row * WIDTH + c, mask=c < WIDTH - 64, other=0.0)
    mine, mine_r = (c >= lo) & (c < hi) & (c < 448), (r + 448 >= lo) & (r + 448 < hi)
    p_nope, p_rope = acc + row * (hi - lo) + c - lo, acc + row * (hi - lo) + 448 + r - lo
    a_nope = tl.load(p_nope, mask=mine, other=0.0)
    a_rope = tl.load(p_rope, mask=mine_r, other=0.0)
    high, sum_ = tl.load(top + row), tl.load(total + row)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        slot = tl.load(slots + b * N + i, mask=i < N, other=-1).to(tl.int64)
        live = tl.where(extra > float("-inf"), slot, -1) >= 0
        k_nope, k_rope = _latent_rows(
            nope, rope, scale, slot, live, n_page, n_tok, r_page, r_tok, s_page, s_tok,
            first, stop, TOKENS)  # fmt: skip
        score = tl.sum(k_rope * q_rope[None, :], axis=1) + extra
        if not ROPE_ONLY:
            score += tl.sum(k_nope * q_nope[None, :], axis=1)
        score = tl.where(live, score, float("-inf"))
        new = tl.maximum(high, tl.max(score, axis=0))
        weight, fade = tl.where(live, tl.exp(score - new), 0.0), tl.exp(high - new)
        a_nope = a_nope * fade + tl.sum(k_nope * weight[:, None], axis=0)
        a_rope = a_rope * fade + tl.sum(k_rope * weight[:, None], axis=0)
        sum_, high = sum_ * fade + tl.sum(weight, axis=0), new
    tl.store(p_nope, a_nope, mask=mine)
    tl.store(p_rope, a_rope, mask=mine_r)
    tl.store(top + row, high)
    tl.store(total + row, sum_)


def sparse_attention_triton(
    q: Tensor,
    segments: tuple[Segment, ...],
    bias: Tensor,
    sink: Tensor,
    *,
    rope_only: bool = False,
    dims: tuple[int, int] | None = None,
    plan: AttentionPlan | None = None,
) -> tuple[Tensor, Tensor]:
    """`sparse_attention_ref` as one program a row, head and segment: an online softmax.

    bfloat16 q, as served: on the matrix units, all 512 dims only, cut as `plan` says or as suits
    the shape. Raises ValueError if it asks for fewer.
    """
    require()
    if q.dtype == torch.bfloat16:
        if rope_only or dims:
            raise ValueError("bfloat16 queries score and read all 512 dims")
        return matrix_attention(q, segments, bias, sink, plan)
    (batch, heads, _), (lo, hi) = q.shape, dims or (0, LATENT)
    first, stop = (lo, min(hi, NOPE)) if rope_only else (0, NOPE)
    acc = q.new_zeros(batch, heads, hi - lo)
    top, total = q.new_full((batch, heads, 1), -1e30), q.new_zeros(batch, heads, 1)
    q, bias, sink = q.contiguous(), bias.t().contiguous(), sink.contiguous()
    for i, s in enumerate(segments):
        planes = latent_planes(s.view)
        strides = [n for p in planes for n in p.stride()[:2]]
        if batch * heads * s.slots.shape[1] > 0:
            _attend_kernel[(batch, heads)](
                q, s.slots.contiguous(), bias[i], acc, top, total, *planes, *strides,
                s.slots.shape[1], lo, hi, first, stop,
                heads, rope_only, s.view.layout.page_tokens, 32, num_warps=8,
            )  # fmt: skip
    share = (total + (sink[:, None] - top).exp()).clamp(min=1e-38).reciprocal()
    return acc * share, (total.log() + top).squeeze(-1)

"""Sparse attention over gathered latents: one softmax a head over all segments and a sink; K and V
are the same row.

Rule: a slot of -1 is not seen, whatever bytes lie where it would be; a NaN in a row that is seen
shows.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.latent import Span, read_latents
from kernels.layout import LayerView
from kernels.store_latent import NOPE, ROPE

CHUNK_ROWS = 2048  # latents decoded at a time: their float32 values stay near the cores


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
    sink (as FlashMLA has it); a row that sees nothing gives 0 and -inf.
    """
    span = Span.of(dims, rope_only)
    heads = [_readers(column) for column in bias.unbind(1)]
    step = max(1, CHUNK_ROWS // sum(s.slots.shape[1] for s in segments))
    outs, lses = [], []
    for i in range(0, len(q), step):
        part = tuple(Segment(s.view, s.slots[i : i + step]) for s in segments)
        out, lse = _attend(q[i : i + step], part, heads, bias, sink, span)
        outs.append(out)
        lses.append(lse)
    return torch.cat(outs), torch.cat(lses)


def _readers(column: Tensor) -> Tensor | slice:
    """The heads whose bias lets them read a segment."""
    heads = (column > -torch.inf).nonzero().squeeze(1)
    return slice(None) if len(heads) == len(column) else heads


def _attend(
    q: Tensor,
    segments: tuple[Segment, ...],
    heads: list[Tensor | slice],
    bias: Tensor,
    sink: Tensor,
    span: Span,
) -> tuple[Tensor, Tensor]:
    """One block of batch rows: a segment is decoded once, and only its readers touch it."""
    rows = [read_latents(s.view, s.slots.flatten(), span) for s in segments]
    scores = q.new_full((*q.shape[:2], sum(s.slots.shape[1] for s in segments)), -torch.inf)
    columns, at = [], 0
    for i, s in enumerate(segments):
        columns.append(slice(at, at := at + s.slots.shape[1]))
        nope, rope = (v.view(*s.slots.shape, -1) for v in (rows[i].nope, rows[i].rope))
        score = score_rows(q[:, heads[i]], nope, rope)
        score.add_(bias[heads[i], i, None]).masked_fill_((s.slots < 0)[:, None], -torch.inf)
        scores[:, heads[i], columns[i]] = score
    weight, share, lse = softmax_parts(scores, sink)
    out = q.new_zeros(*q.shape[:2], span.width)
    for i, s in enumerate(segments):
        nope, rope = (v.view(*s.slots.shape, v.shape[1]) for v in rows[i].values(span))
        out[:, heads[i]] += mix_values(weight[:, heads[i], columns[i]], nope, rope)
    return out.mul_(share), lse


def score_rows(q: Tensor, nope: Tensor, rope: Tensor) -> Tensor:
    """q [B, M, 64 or 512] times keys [B, N, 448] and [B, N, 64], or the latter alone: [B, M, N]."""
    keys = rope.transpose(1, 2)
    if q.shape[2] == ROPE:
        return torch.bmm(q, keys)
    scores = torch.bmm(q[..., :NOPE], nope.transpose(1, 2))
    return scores.baddbmm_(q[..., NOPE:], keys)


def softmax_parts(scores: Tensor, sink: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """exp(scores - max) [..., H, N], in place; the share [..., H, 1] that results are multiplied by
    after their product, so that a sink far above every score costs no precision; the lse [..., H].
    """
    top = scores.amax(-1, keepdim=True).clamp_(min=-1e30)
    weight = scores.sub_(top).exp_()
    total = weight.sum(-1, keepdim=True)
    share = (total + (sink[:, None] - top).exp_()).clamp_(min=1e-38).reciprocal_()
    return weight, share, (total.log() + top).squeeze(-1)


def mix_values(weight: Tensor, nope: Tensor, rope: Tensor) -> Tensor:
    """weight [B, M, N] times values [B, N, D] and [B, N, R]: [B, M, D + R]."""
    if rope.shape[2] == 0:
        return torch.bmm(weight, nope)
    return torch.cat([torch.bmm(weight, nope), torch.bmm(weight, rope)], 2)

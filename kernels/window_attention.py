"""Sliding-window attention of a prefill chunk: its queries are the last positions of a context,
each sees the window that ends at itself.

Rule: a banded product; what a query does not see is never summed, not even times zero.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from kernels.latent import Latents, Span, read_latents
from kernels.layout import LayerView
from kernels.sparse_attention import (
    Segment,
    mix_values,
    score_rows,
    softmax_weights,
    sparse_attention_triton,
)

QUERIES = 16  # queries of a block: it scores 16 + window - 1 keys, so little of a band is wasted
BLOCK_SCORES = 1 << 20  # scores worked on at a time, so that they stay near the cores


def window_attention_ref(
    q: Tensor,
    src: LayerView,
    ctx_slots: Tensor,
    window: int,
    sink: Tensor,
    *,
    rope_only: bool = False,
    dims: tuple[int, int] | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of float32 q [T, H, 512] ([T, H, 64] when `rope_only`, which score by rope alone)
    over the context `ctx_slots` (int64 [C], C >= T, -1 = dead).

    Query t stands at context position C - T + t and sees the `window` positions that end there.
    sink, `dims`, out [T, H, hi - lo] and lse [T, H] are as in `sparse_attention_ref`.
    """
    tokens, heads, width = q.shape
    blocks = -(-tokens // QUERIES)
    keys = QUERIES + window - 1
    # pad both ends with dead positions: every block is then the same band of the same size
    front, back = max(0, window - 1 - (len(ctx_slots) - tokens)), blocks * QUERIES - tokens
    slots = pad(ctx_slots[-(tokens + window - 1) :], (front, back), value=-1)
    span = Span.of(dims, rope_only)
    band = _Band.of(read_latents(src, slots, span), slots < 0, span, window)
    q = pad(q, (0, 0, 0, 0, 0, back)).view(blocks, QUERIES * heads, width)
    out = q.new_empty(blocks, QUERIES, heads, span.width)
    lse = q.new_empty(blocks, QUERIES, heads)
    step = max(1, BLOCK_SCORES // (QUERIES * heads * keys))
    for i in range(0, blocks, step):
        part = slice(i, min(i + step, blocks))
        lse[part] = band.attend(
            q[part], part, sink, out[part].view(-1, QUERIES * heads, span.width)
        )
    return out.view(-1, heads, span.width)[:tokens], lse.view(-1, heads)[:tokens]


@dataclass(frozen=True)
class _Band:
    """Overlapping blocks of keys, one for each block of queries; views of the decoded rows."""

    nope: Tensor  # float32 [blocks, keys, D]
    rope: Tensor  # float32 [blocks, keys, 64]
    values: tuple[Tensor, Tensor]
    dead: Tensor  # bool [blocks, keys]
    near: Tensor  # bool [QUERIES, keys]: inside the query's window
    exact: bool

    @classmethod
    def of(cls, rows: Latents, dead: Tensor, span: Span, window: int) -> "_Band":
        """Cuts decoded rows (blocks * QUERIES + window - 1 of them) into blocks."""
        keys = QUERIES + window - 1

        def cut(x: Tensor) -> Tensor:
            return x.unfold(0, keys, QUERIES).transpose(1, -1)

        column = torch.arange(keys, device=dead.device)
        ahead = column - column[:QUERIES, None]
        nope, rope = rows.values(span)
        return cls(
            cut(rows.nope),
            cut(rows.rope),
            (cut(nope), cut(rope)),
            cut(dead),
            (ahead >= 0) & (ahead < window),
            rows.exact,
        )

    def attend(self, q: Tensor, part: slice, sink: Tensor, out: Tensor) -> Tensor:
        """Attention of q [blocks, QUERIES * heads, ...] of some blocks, into `out`; the lse."""
        heads = q.shape[1] // QUERIES
        seen = self.near & ~self.dead[part, None]
        scores = score_rows(q, self.nope[part], self.rope[part])
        scores = scores.view(len(q), QUERIES, heads, -1)
        if self.exact:  # adding is faster than filling, but keeps a NaN
            scores.add_(torch.where(seen, 0.0, -torch.inf)[:, :, None])
        else:
            scores.masked_fill_(~seen[:, :, None], -torch.inf)
        weight, lse = softmax_weights(scores, sink)
        weight = weight.view(len(q), QUERIES * heads, -1)
        nope, rope = (v[part] for v in self.values)
        if self.exact:
            mix_values(weight, nope, rope, out)
            return lse
        mix_values(weight, nope.nan_to_num(0.0, 0.0, 0.0), rope.nan_to_num(0.0, 0.0, 0.0), out)
        bad = torch.cat([~nope.isfinite(), ~rope.isfinite()], 2).float()
        shown = (torch.bmm(seen.float(), bad) > 0).repeat_interleave(heads, 1)
        out.masked_fill_(shown, torch.nan)
        return lse


def window_attention_triton(
    q: Tensor,
    src: LayerView,
    ctx_slots: Tensor,
    window: int,
    sink: Tensor,
    *,
    rope_only: bool = False,
    dims: tuple[int, int] | None = None,
) -> tuple[Tensor, Tensor]:
    """`window_attention_ref`: a window is a segment whose slots slide by one from row to row."""
    tokens = len(q)
    front = max(0, window - 1 - (len(ctx_slots) - tokens))
    slots = pad(ctx_slots[-(tokens + window - 1) :], (front, 0), value=-1)
    segment = Segment(src, slots.unfold(0, window, 1))
    bias = torch.zeros_like(sink)[:, None]
    return sparse_attention_triton(q, (segment,), bias, sink, rope_only=rope_only, dims=dims)

"""Sparse attention over gathered latents: one softmax a head over all segments and a sink; K and V
are the same row.

Rule: a slot of -1 is not seen, whatever bytes lie where it would be; a NaN in a row that is seen
shows.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.fp8 import CODE_UNIT, decode_bf16, decode_codes, decode_ue8m0, has_nan_code, patch_nan
from kernels.layout import LayerView
from kernels.store_latent import GROUP, GROUPS, LATENT, NOPE


@dataclass(frozen=True)
class Segment:
    """Rows of one pool that a batch may read: `slots` int32 [B, N] of that pool, -1 = dead."""

    view: LayerView
    slots: Tensor


def latent_rows(view: LayerView, slots: Tensor) -> Tensor:
    """Decodes latents of `slots` (int [...], >= 0): float32 [..., 512]."""
    flat = slots.flatten()
    value, scale = view.gather("value", flat), view.gather("scale", flat)
    codes = value[:, :NOPE].contiguous()
    nope = decode_codes(codes)
    if has_nan_code(codes):
        patch_nan(nope)
    factor = decode_ue8m0(scale[:, :GROUPS]) * CODE_UNIT
    nope = nope.view(-1, GROUPS, GROUP) * factor[:, :, None]
    rope = decode_bf16(value[:, NOPE:])
    return torch.cat([nope.flatten(1), rope], 1).view(*slots.shape, LATENT)


def sparse_attention_ref(
    q: Tensor,
    segments: tuple[Segment, ...],
    bias: Tensor,
    sink: Tensor,
    *,
    rope_only: bool = False,
    dims: tuple[int, int] | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of float32 q [B, H, 512], or [B, H, 64] when `rope_only` (scores from the 64 rotary
    dims alone).

    bias float32 [H, segments]: 0 where a head reads a segment, -inf where not. sink float32 [H]
    adds exp(sink) to the denominator only. Returns out float32 [B, H, hi - lo] for the half-open
    `dims` (default all 512), and lse float32 [B, H]: log sum exp of the seen scores, without the
    sink; a row that sees nothing gives 0 and -inf.
    """
    lo, hi = dims or (0, LATENT)
    dead = torch.cat([s.slots < 0 for s in segments], 1)[:, None]
    rows = torch.cat([latent_rows(s.view, s.slots.clamp(min=0)) for s in segments], 1)
    rows = rows.masked_fill(dead.transpose(1, 2), 0.0)
    keys = rows[..., NOPE:] if rope_only else rows
    scores = q @ keys.transpose(1, 2)
    scores = scores + torch.cat(
        [
            b[:, None].expand(-1, s.slots.shape[1])
            for b, s in zip(bias.unbind(1), segments, strict=True)
        ],
        1,
    )
    return softmax_values(scores.masked_fill(dead, -torch.inf), sink, rows[..., lo:hi])


def softmax_values(scores: Tensor, sink: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Softmax of scores [B, H, N] with sink [H] in the denominator, times values [B, N, D]; and the
    lse without the sink.
    """
    lse = scores.logsumexp(2)
    total = torch.logaddexp(lse, sink)
    weight = (scores - total.clamp(min=torch.finfo(torch.float32).min)[..., None]).exp()
    return weight @ values, lse

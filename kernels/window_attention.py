"""Sliding-window attention of a prefill chunk: its queries are the last positions of a context,
each sees the window that ends at itself.

Rule: a banded product; what a query does not see is never summed, not even times zero.
"""

import torch
from torch import Tensor

from kernels.layout import LayerView
from kernels.sparse_attention import latent_rows, softmax_values
from kernels.store_latent import LATENT, NOPE


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
    """Attention of float32 q [T, H, 512] ([T, H, 64] when `rope_only`) over the context `ctx_slots`
    (int64 [C], C >= T, -1 = dead).

    Query t stands at context position C - T + t and sees the `window` positions ending there. sink,
    `dims` and the result [T, H, hi - lo], [T, H] are as in `sparse_attention_ref`.
    """
    lo, hi = dims or (0, LATENT)
    first = len(ctx_slots) - len(q)
    rows = latent_rows(src, ctx_slots.clamp(min=0)).masked_fill_((ctx_slots < 0)[:, None], 0.0)
    outs, lses = [], []
    for t in range(0, len(q), 128):
        block = q[t : t + 128]
        here = first + t + torch.arange(len(block))
        start, stop = max(0, first + t - window + 1), first + t + len(block)
        seen = torch.arange(start, stop)
        near = (
            (seen <= here[:, None]) & (seen > here[:, None] - window) & (ctx_slots[start:stop] >= 0)
        )
        keys = rows[start:stop, NOPE:] if rope_only else rows[start:stop]
        scores = (block @ keys.T).masked_fill_(~near[:, None], -torch.inf)
        out, lse = softmax_values(scores, sink, rows[start:stop, lo:hi])
        outs.append(out)
        lses.append(lse)
    return torch.cat(outs), torch.cat(lses)

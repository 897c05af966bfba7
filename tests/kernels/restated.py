"""The pools' formats and the operations' sums, said again in float64 by torch's own casts.

Rule: shares no arithmetic with `kernels/`; slow and plain.
"""

import torch
from torch import Tensor

from kernels.layout import LayerView


def latents(view: LayerView, slots: Tensor) -> Tensor:
    """float64 [..., 512] of latent slots (all >= 0)."""
    page, token = slots.long() // view.layout.page_tokens, slots.long() % view.layout.page_tokens
    value, scale = view.plane("value")[page, token], view.plane("scale")[page, token]
    code = value[..., :448].contiguous().view(torch.float8_e4m3fn).double()
    unit = torch.pow(2.0, scale[..., :7].double() - 127).repeat_interleave(64, -1)
    unit[scale[..., :7].repeat_interleave(64, -1) == 255] = torch.nan
    rope = value[..., 448:].contiguous().view(torch.bfloat16).double()
    return torch.cat([code * unit, rope], -1)


def index_keys(view: LayerView) -> Tensor:
    """float64 [page, 64, 128] of an index-K pool."""
    value = view.plane("value").double()
    return value * view.plane("scale").double() if len(view.layout.planes) > 1 else value


def attend(q: Tensor, rows: Tensor, bias: Tensor, sink: Tensor) -> tuple[Tensor, Tensor]:
    """One query [D] over seen rows [N, 512] with a bias [N]: (out [512], lse), one softmax."""
    keys = rows if len(q) == 512 else rows[:, 448:]
    weight = (keys @ q.double() + bias.double()).exp()
    total = weight.sum()
    return weight @ rows / (total + sink.double().exp()), total.log()

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


def copy_pages(
    dst: Tensor, src: Tensor, dst_pages: list[int], src_pages: list[int], width: int
) -> None:
    """Bytes [0, width) of each page row of every layer, one at a time."""
    for to, frm in zip(dst_pages, src_pages, strict=True):
        for layer in range(dst.shape[1]):
            dst[to, layer, :width] = src[frm, layer, :width]


def copy_tokens(dst: LayerView, src: LayerView, dst_slots: list[int], src_slots: list[int]) -> None:
    """Each plane's bytes of a token: planes follow one another, tokens within them."""
    for to, frm in zip(dst_slots, src_slots, strict=True):
        moved, starts = [], [0, 0]
        for plane in dst.layout.planes:
            size = plane.per_token * plane.dtype.itemsize
            for i, (view, slot) in enumerate(((dst, to), (src, frm))):
                page, token = divmod(slot, view.layout.page_tokens)
                at = starts[i] + token * size
                moved.append(view.pages[page, at : at + size])
                starts[i] += size * view.layout.page_tokens
        for row, value in zip(moved[::2], moved[1::2], strict=True):
            row.copy_(value)

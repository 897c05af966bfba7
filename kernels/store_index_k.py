"""Store index keys: e4m3 with one float32 scale a row where the layout has a scale plane, else
plain bfloat16.

Rule: a row that is not live, or whose slot is 0 or less, writes nothing; the operation says which
slots it really wrote.
"""

import torch
from torch import Tensor

from kernels.fp8 import E4M3_MAX, encode_e4m3
from kernels.layout import LayerView

INDEX_DIM = 128
MIN_ABSMAX = 1e-4  # SGLang's fused store: scale = max(1e-4, absmax) / 448


def index_scale(key: Tensor) -> Tensor:
    """The float32 scale [N] that the fp8 store gives each row of `key` [N, 128]; NaN elements do
    not count.
    """
    absmax = torch.where(key.isnan(), 0.0, key.abs()).amax(1)
    return absmax.clamp(min=MIN_ABSMAX) / E4M3_MAX


def store_index_k_ref(dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor:
    """Writes float32 `key` [N, 128] to `slots` (int64 [N]) where `live` (bool [N]) and slot > 0.

    Returns int64 [N]: the slot that each row wrote, -1 where it wrote nothing. Source of the guard:
    SGLang #32477.
    """
    guard = live & (slots > 0)
    keep = guard.nonzero().squeeze(1)
    if keep.numel() > 0:
        write_index_rows(dst, key[keep].float(), slots[keep])
    return torch.where(guard, slots, -1)


def write_index_rows(dst: LayerView, key: Tensor, slots: Tensor) -> None:
    """Writes every row of float32 `key` [N, 128] in the pool's format, no questions asked; slots
    must be >= 0.
    """
    if len(dst.layout.planes) == 1:
        dst.scatter("value", slots, key.to(torch.bfloat16).view(torch.uint8))
        return
    scale = index_scale(key)
    dst.scatter("value", slots, encode_e4m3(key / scale[:, None]))
    dst.scatter("scale", slots, scale[:, None].view(torch.uint8))

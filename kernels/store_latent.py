"""Store latents: 448 no-position dims as e4m3 with one ue8m0 scale per 64, and 64 rotary dims as
bfloat16; 584 bytes a row.

Rule: a row that is not live, or whose slot is 0 or less, writes nothing.
"""

import torch
from torch import Tensor

from kernels.fp8 import encode_e4m3, ue8m0_of
from kernels.layout import LayerView

NOPE, ROPE, GROUP = 448, 64, 64
LATENT = NOPE + ROPE
GROUPS = NOPE // GROUP
MIN_ABSMAX = 1e-4  # below this the scale stops shrinking, as in DeepSeek's quantiser


def store_latent_ref(dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None:
    """Quantises float32 `latent` [N, 512] and writes it to `slots` (int64 [N]) where `live` (bool
    [N]) and slot > 0.
    """
    keep = (live & (slots > 0)).nonzero().squeeze(1)
    if keep.numel() == 0:
        return
    rows, to = latent[keep].float(), slots[keep]
    groups = rows[:, :NOPE].view(-1, GROUPS, GROUP)
    absmax = torch.where(groups.isnan(), 0.0, groups.abs()).amax(2).clamp(min=MIN_ABSMAX)
    scale = ue8m0_of(absmax)
    inverse = ((254 - scale) << 23).view(torch.float32)
    codes = encode_e4m3(groups * inverse[:, :, None]).flatten(1)
    rope = rows[:, NOPE:].to(torch.bfloat16).view(torch.uint8)
    dst.scatter("value", to, torch.cat([codes, rope], 1))
    pad = torch.zeros_like(scale[:, :1])
    dst.scatter("scale", to, torch.cat([scale, pad], 1).to(torch.uint8))

"""Store latents: 448 no-position dims as e4m3 with one ue8m0 scale per 64, and 64 rotary dims as
bfloat16; 584 bytes a row.

Rule: a row that is not live, or whose slot is 0 or less, writes nothing.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

import torch
from torch import Tensor

from kernels.fp8 import bf16_bits, e4m3_bits, encode_e4m3, ue8m0_of
from kernels.jit import jit, require, tl
from kernels.layout import LayerView

NOPE, ROPE, GROUP = 448, 64, 64
LATENT = NOPE + ROPE
GROUPS = NOPE // GROUP
MIN_ABSMAX = 1e-4  # below this the scale stops shrinking, as in DeepSeek's quantiser


def store_latent_ref(dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None:
    """Quantises float32 `latent` [N, 512] and writes it to `slots` (int64 [N]) where `live` (bool
    [N]) and slot > 0. NaN elements stay NaN and do not count for the scale.
    """
    keep = live & (slots > 0)
    rows, to = (latent, slots) if bool(keep.all()) else (latent[keep], slots[keep])
    if len(to) == 0:
        return
    groups = rows[:, :NOPE].view(-1, GROUPS, GROUP)
    absmax = groups.abs().amax(2)
    if bool(absmax.isnan().any()):
        absmax = groups.abs().nan_to_num(0.0, torch.inf).amax(2)
    scale = ue8m0_of(absmax.clamp_(min=MIN_ABSMAX))
    inverse = ((254 - scale) << 23).view(torch.float32)
    codes = encode_e4m3(groups * inverse[:, :, None]).view(-1, NOPE)
    rope = rows[:, NOPE:].to(torch.bfloat16).view(torch.uint8)
    dst.scatter("value", to, torch.cat([codes, rope], 1))
    dst.scatter("scale", to, torch.nn.functional.pad(scale.to(torch.uint8), (0, 1)))


def latent_planes(view: LayerView) -> tuple[Tensor, Tensor, Tensor]:
    """(e4m3 codes uint8 [page, token, 448], rope bits int16 [page, token, 64], scales uint8 [page,
    token, 8]), strided views of a latent pool, as its kernels take them.
    """
    value = view.plane("value")
    return value[..., :NOPE], value[..., NOPE:].view(torch.int16), view.plane("scale")


@jit
def _store_latent_kernel(
    latent, slots, live, nope, rope, scale, n_page, n_tok, r_page, r_tok, s_page, s_tok,
    TOKENS: tl.constexpr, MIN: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + i)
    if (tl.load(live + i) != 0) & (slot > 0):
        page, tok = slot // TOKENS, slot % TOKENS
        g, c = tl.arange(0, 8), tl.arange(0, 64)  # seven groups of 64, then the rope dims
        row = tl.load(latent + i * 512 + g[:, None] * 64 + c[None, :])  # [8, 64]
        size = tl.where(row == row, tl.abs(row), 0.0)
        bits = tl.maximum(tl.max(size, axis=1), MIN).to(tl.int32, bitcast=True)
        # 448 = 1.75 * 2**8: the mantissa's comparison with .75 decides the last step
        code = (bits >> 23) - 8 + ((bits & 0x7FFFFF) > 0x600000).to(tl.int32)
        scaled = row * ((254 - code) << 23).to(tl.float32, bitcast=True)[:, None]
        at = nope + page * n_page + tok * n_tok + g[:, None] * 64 + c[None, :]
        tl.store(at, e4m3_bits(scaled), mask=(g < 7)[:, None])
        at = rope + page * r_page + tok * r_tok + c[None, :] + g[:, None] * 0
        tl.store(at, bf16_bits(row), mask=(g == 7)[:, None])
        pad = tl.where(g < 7, code, 0)
        tl.store(scale + page * s_page + tok * s_tok + g, pad.to(tl.uint8))


def store_latent_triton(dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None:
    """`store_latent_ref` as one program a row; nothing waits for the device."""
    require()
    if len(slots) == 0:
        return
    planes = latent_planes(dst)
    strides = [s for p in planes for s in p.stride()[:2]]
    _store_latent_kernel[(len(slots),)](
        latent.contiguous(), slots, live, *planes, *strides, dst.layout.page_tokens, MIN_ABSMAX
    )

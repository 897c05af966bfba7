"""Store index keys: e4m3 with one float32 scale a row where the layout has a scale plane, else
plain bfloat16.

Rule: a row that is not live, or whose slot is 0 or less, writes nothing; the operation says which
slots it really wrote.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

import torch
from torch import Tensor

from kernels.fp8 import E4M3_MAX, bf16_bits, e4m3_bits, encode_e4m3
from kernels.jit import jit, require, tl
from kernels.layout import LayerView

INDEX_DIM = 128
MIN_ABSMAX = 1e-4  # SGLang's fused store: scale = max(1e-4, absmax) / 448


def index_scale(key: Tensor) -> Tensor:
    """The float32 scale [N] of each row of `key` [N, 128] under fp8; NaN elements do not count."""
    absmax = key.abs().amax(1)
    if bool(absmax.isnan().any()):
        absmax = key.abs().nan_to_num(0.0, torch.inf).amax(1)
    return absmax.clamp(min=MIN_ABSMAX) / E4M3_MAX


def store_index_k_ref(dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor:
    """Writes float32 `key` [N, 128] to `slots` (int64 [N]) where `live` (bool [N]) and slot > 0.

    Returns int64 [N]: the slot that each row wrote, -1 where it wrote nothing. The guard is the fix
    of sgl-project/sglang#32477.
    """
    guard = live & (slots > 0)
    if bool(guard.all()):
        write_index_rows(dst, key, slots)
    elif bool(guard.any()):
        write_index_rows(dst, key[guard], slots[guard])
    return torch.where(guard, slots, -1)


def write_index_rows(dst: LayerView, key: Tensor, slots: Tensor) -> None:
    """Writes every row of float32 `key` [N, 128] in the pool's format; all slots must be >= 0."""
    if len(slots) == 0:
        return
    if len(dst.layout.planes) == 1:
        dst.scatter("value", slots, key.to(torch.bfloat16).view(torch.uint8))
        return
    scale = index_scale(key)
    dst.scatter("value", slots, encode_e4m3(key / scale[:, None]))
    dst.scatter("scale", slots, scale[:, None].view(torch.uint8))


def index_planes(view: LayerView) -> tuple[Tensor, Tensor]:
    """(codes uint8 or bfloat16 bits int16 [page, token, 128], scale float32 [page, token, 1]), as
    kernels take an index-K pool; bfloat16 has no scale, and the codes stand in for it.
    """
    value = view.plane("value")
    if len(view.layout.planes) == 1:
        return value.view(torch.int16), value.view(torch.int16)
    return value.view(torch.uint8), view.plane("scale")


@jit
def _store_index_k_kernel(
    key, slots, live, value, scale, wrote, v_page, v_tok, s_page,
    TOKENS: tl.constexpr, FP8: tl.constexpr, MIN: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + i)
    if (tl.load(live + i) != 0) & (slot > 0):
        page, tok = slot // TOKENS, slot % TOKENS
        c = tl.arange(0, 128)
        row = tl.load(key + i * 128 + c)  # [128]
        at = value + page * v_page + tok * v_tok + c
        if FP8:
            size = tl.where(row == row, tl.abs(row), 0.0)
            # exactly rounded, as torch divides: both stores give the same bytes
            unit = tl.div_rn(tl.maximum(tl.max(size, axis=0), MIN), 448.0)
            tl.store(at, e4m3_bits(tl.div_rn(row, unit + tl.zeros_like(row))))
            tl.store(scale + page * s_page + tok, unit)
        else:
            tl.store(at, bf16_bits(row))
        tl.store(wrote + i, slot)
    else:
        tl.store(wrote + i, -1)


def store_index_k_triton(dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor:
    """`store_index_k_ref` as one program a row; nothing waits for the device."""
    require()
    wrote = torch.empty_like(slots)
    if len(slots) == 0:
        return wrote
    value, scale = index_planes(dst)
    fp8 = value.dtype == torch.uint8
    _store_index_k_kernel[(len(slots),)](
        key.contiguous(), slots, live, value, scale, wrote, *value.stride()[:2], scale.stride(0),
        dst.layout.page_tokens, fp8, MIN_ABSMAX,
    )  # fmt: skip
    return wrote

"""Store index keys: e4m3 with one float32 scale a row where the layout has a scale plane, else
plain bfloat16.

Rule: a row that is not live, or whose slot is 0 or less, writes nothing; the operation says which
slots it really wrote.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

import torch
from torch import Tensor

from kernels.fp8 import (
    E4M3_MAX,
    bf16_code,
    e4m3_code,
    encode_bf16,
    encode_e4m3,
    magnitude,
    quotient,
)
from kernels.jit import INTERPRETED, jit, require, tl
from kernels.layout import LayerView
from kernels.stored_rows import StorePlan, begin, loaded, page_and_token, places, vector, writable

INDEX_DIM = 128
MIN_ABSMAX = 1e-4  # SGLang's fused store: scale = max(1e-4, absmax) / 448


def index_scale(key: Tensor) -> Tensor:
    """The float32 scale [N] of each row of `key` [N, 128] under fp8; NaN elements do not count."""
    absmax = key.abs().amax(1)
    if bool(absmax.isnan().any()):
        absmax = key.abs().nan_to_num(0.0, torch.inf).amax(1)
    # on a GPU torch divides by a number as it multiplies with its rounded inverse
    return absmax.clamp(min=MIN_ABSMAX) / torch.full_like(absmax, E4M3_MAX)


def store_index_k_ref(dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor:
    """Writes `key` (float32 or bfloat16 [N, 128]) to `slots` (int64 [N]) where `live` (bool [N])
    and slot > 0.

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
    """Writes every row of `key` (float32 or bfloat16 [N, 128]) in the pool's format; all slots must
    be >= 0.
    """
    if len(slots) == 0:
        return
    if len(dst.layout.planes) == 1:
        dst.scatter("value", slots, encode_bf16(key).view(torch.uint8))
        return
    key = key.to(torch.float32)
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
    key, slots, live, value, scale, wrote, COUNT, v_page, v_tok, s_page,
    TOKENS: tl.constexpr, FP8: tl.constexpr, MIN: tl.constexpr, NATIVE: tl.constexpr,
    START: tl.constexpr, ROWS: tl.constexpr, PARTS: tl.constexpr, VEC: tl.constexpr,
):  # fmt: skip
    WIDTH: tl.constexpr = 128 // PARTS
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    begin(key, slots, live, i, COUNT, 128, VEC, START)
    c = tl.arange(0, WIDTH)
    # dead rows are read too: the keys need not wait for the slots
    at = key + (i.to(tl.int64) * 128)[:, None] + c[None, :]
    parts = loaded(at, (i < COUNT)[:, None], WIDTH, PARTS)  # each [ROWS, WIDTH]
    slot, keep = writable(slots, live, i, COUNT)
    tl.store(wrote + i, tl.where(keep, slot, -1), mask=i < COUNT)
    page, tok = page_and_token(slot, TOKENS)
    at = value + places(page * v_page + tok * v_tok, c, VEC)
    if FP8:
        size = magnitude(parts[0], NATIVE)
        for p in tl.static_range(1, PARTS):
            size = tl.maximum(size, magnitude(parts[p], NATIVE))
        size = tl.maximum(tl.max(size, axis=1), MIN)
        # exactly rounded, as torch divides: both stores give the same bytes
        unit = tl.div_rn(size, tl.full([ROWS], 448.0, tl.float32))
        inverse = tl.div_rn(tl.full([ROWS], 1.0, tl.float32), unit)
        tl.store(scale + page * s_page + tok, unit, mask=keep)
    for p in tl.static_range(PARTS):
        if FP8:
            scaled = quotient(parts[p], unit[:, None], inverse[:, None], NATIVE)
            code = e4m3_code(scaled, NATIVE)
        else:
            code = bf16_code(parts[p], NATIVE, key.dtype.element_ty == tl.bfloat16)
        tl.store(at + p * WIDTH, code, mask=keep[:, None])


def store_index_k_plan(rows: int) -> StorePlan:
    """How a store of `rows` rows is cut up: those of a decode step go to many small programs."""
    return StorePlan(4, 1, parts=4) if rows <= 512 else StorePlan(32, 4, parts=4)


def store_index_k_triton(
    dst: LayerView, key: Tensor, slots: Tensor, live: Tensor, plan: StorePlan | None = None
) -> Tensor:
    """`store_index_k_ref` as one program a few rows; nothing waits for the device."""
    require()
    slots, count = slots.contiguous(), len(slots)
    wrote = torch.empty_like(slots)
    if count == 0:
        return wrote
    plan = plan or store_index_k_plan(count)
    value, scale = index_planes(dst)
    fp8, native = value.dtype == torch.uint8, not INTERPRETED
    _store_index_k_kernel[(-(-count // plan.rows),)](
        key.contiguous(), slots, live.contiguous(), value, scale, wrote, count, *value.stride()[:2],
        scale.stride(0), dst.layout.page_tokens, fp8, MIN_ABSMAX, native, plan.start,
        plan.rows, plan.parts, vector(key), **plan.options,
    )  # fmt: skip
    return wrote

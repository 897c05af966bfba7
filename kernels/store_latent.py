"""Store latents: 448 no-position dims as e4m3 with one ue8m0 scale per 64, and 64 rotary dims as
bfloat16; 584 bytes a row.

Rule: a row that is not live, or whose slot is 0 or less, writes nothing.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

import torch
from torch import Tensor

from kernels.fp8 import bf16_code, e4m3_code, encode_bf16, encode_e4m3, magnitude, ue8m0_of
from kernels.jit import INTERPRETED, jit, require, tl
from kernels.layout import LayerView
from kernels.stored_rows import StorePlan, begin, loaded, page_and_token, places, vector, writable

NOPE, ROPE, GROUP = 448, 64, 64
LATENT = NOPE + ROPE
GROUPS = NOPE // GROUP
MIN_ABSMAX = 1e-4  # below this the scale stops shrinking, as in DeepSeek's quantiser


def store_latent_ref(dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None:
    """Quantises `latent` (float32 or bfloat16 [N, 512]) and writes it to `slots` (int64 [N]) where
    `live` (bool [N]) and slot > 0. NaN elements stay NaN and do not count for the scale.
    """
    keep = live & (slots > 0)
    latent = latent.to(torch.float32)
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
    rope = encode_bf16(rows[:, NOPE:]).view(torch.uint8)
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
    latent, slots, live, nope, rope, scale, COUNT, n_page, n_tok, r_page, r_tok, s_page, s_tok,
    TOKENS: tl.constexpr, MIN: tl.constexpr, NATIVE: tl.constexpr, START: tl.constexpr,
    ROWS: tl.constexpr, VEC: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    begin(latent, slots, live, i, COUNT, 512, VEC, START)
    c = tl.arange(0, 64)
    # dead rows are read too: the latents need not wait for the slots
    at = latent + (i.to(tl.int64) * 512)[:, None] + c[None, :]
    groups = loaded(at, (i < COUNT)[:, None], 64, 8)  # each [ROWS, 64]
    slot, keep = writable(slots, live, i, COUNT)
    page, tok = page_and_token(slot, TOKENS)
    at, kept = nope + places(page * n_page + tok * n_tok, c, VEC), keep[:, None]
    codes = tl.zeros([ROWS], tl.int64)
    for g in tl.static_range(7):
        size = tl.max(magnitude(groups[g], NATIVE), axis=1)
        bits = tl.maximum(size, MIN).to(tl.int32, bitcast=True)
        # 448 = 1.75 * 2**8: the mantissa's comparison with .75 decides the last step
        code = (bits >> 23) - 8 + ((bits & 0x7FFFFF) > 0x600000).to(tl.int32)
        scaled = groups[g] * ((254 - code) << 23).to(tl.float32, bitcast=True)[:, None]
        tl.store(at + g * 64, e4m3_code(scaled, NATIVE), mask=kept)
        codes |= code.to(tl.int64) << (8 * g)
    at = rope + places(page * r_page + tok * r_tok, c, VEC)
    was_bf16: tl.constexpr = latent.dtype.element_ty == tl.bfloat16
    tl.store(at, bf16_code(groups[7], NATIVE, was_bf16), mask=kept)
    tl.store(scale + page * s_page + tok * s_tok, codes, mask=keep)


def store_latent_plan(rows: int) -> StorePlan:
    """How a store of `rows` rows is cut up: those of a decode step go to many small programs."""
    return StorePlan(2, 1, parts=8) if rows <= 512 else StorePlan(32, 16, parts=8)


def store_latent_triton(
    dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor, plan: StorePlan | None = None
) -> None:
    """`store_latent_ref` as one program a few rows; nothing waits for the device."""
    require()
    count = len(slots)
    if count == 0:
        return
    plan = plan or store_latent_plan(count)
    nope, rope, scale = latent_planes(dst)
    planes = nope, rope, scale.view(torch.int64)  # the eight scales of a row as one word
    strides = [s for p in planes for s in p.stride()[:2]]
    native = not INTERPRETED
    _store_latent_kernel[(-(-count // plan.rows),)](
        latent.contiguous(), slots.contiguous(), live.contiguous(), *planes, count, *strides,
        dst.layout.page_tokens, MIN_ABSMAX, native, plan.start, plan.rows, vector(latent),
        **plan.options,
    )  # fmt: skip

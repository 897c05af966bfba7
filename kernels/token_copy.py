"""Copies of single tokens: the bytes of each plane's row, wherever each side keeps it.

Rule: a slot is found by the layout of the side that it belongs to; no geometry is assumed. So a
token's ``contiguous_token_bytes`` are the row of each plane, whatever pool and dtype it is of.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from torch import Tensor

from kernels.jit import jit, next_power_of_2, require, tl
from kernels.layout import LayerView, widest_word


def token_copy_ref(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
) -> None:
    """Copies each of `src_slots` to `dst_slots` (int64 [N], >= 0; no slot twice in `dst_slots`).

    Rows whose `live` (bool [N], None = all) is False are skipped, whatever their slots. The sides
    may differ in page size, strides and device. Raises ValueError if their planes differ.
    """
    _same_planes(dst, src)
    if live is not None:
        dst_slots = dst_slots[live.to(dst_slots.device)]
        src_slots = src_slots[live.to(src_slots.device)]
    if len(src_slots) == 0:
        return
    frm, to = src_slots.to(src.pages.device), dst_slots.to(dst.pages.device)
    for plane in dst.layout.planes:
        dst.scatter(plane.name, to, src.gather(plane.name, frm).to(to.device))


def _same_planes(dst: LayerView, src: LayerView) -> None:
    if dst.layout.planes != src.layout.planes:
        raise ValueError(f"tokens of {src.layout.planes} cannot go to {dst.layout.planes}")


@jit
def _token_copy_kernel(
    dst, src, dst_slots, src_slots, live, d_page, d_tok, s_page, s_tok, WORDS,
    MASKED: tl.constexpr, D_TOKENS: tl.constexpr, S_TOKENS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    seen = col < WORDS
    if MASKED:
        seen = seen & (tl.load(live + i) != 0)
    frm, to = tl.load(src_slots + i).to(tl.int64), tl.load(dst_slots + i).to(tl.int64)
    at = src + frm // S_TOKENS * s_page + frm % S_TOKENS * s_tok
    row = tl.load(at + col, mask=seen)
    at = dst + to // D_TOKENS * d_page + to % D_TOKENS * d_tok
    tl.store(at + col, row, mask=seen)


def token_copy_triton(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
) -> None:
    """`token_copy_ref` as one program a token and plane; nothing waits for the device. Either side
    may be pinned host memory, which the GPU addresses itself.
    """
    require()
    _same_planes(dst, src)
    if len(src_slots) == 0:
        return
    device = (dst if dst.pages.is_cuda else src).pages.device
    to, frm = dst_slots.to(device), src_slots.to(device)
    mask = to if live is None else live.to(device)
    for plane in dst.layout.planes:
        d, s = _words(dst, src, plane.name)
        _token_copy_kernel[(len(to),)](
            d, s, to, frm, mask, *d.stride()[:2], *s.stride()[:2], d.shape[2], live is not None,
            dst.layout.page_tokens, src.layout.page_tokens, next_power_of_2(d.shape[2]),
        )  # fmt: skip


def _words(dst: LayerView, src: LayerView, name: str) -> list[Tensor]:
    """The plane on both sides, `[page, token, words]`, in the widest integer that fits both."""
    sides = [view.rows(name) for view in (dst, src)]
    word = widest_word(*sides)
    return [side.view(word) for side in sides]

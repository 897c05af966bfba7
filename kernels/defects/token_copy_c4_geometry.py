"""The token copy that takes every pool for c4: 64 tokens a page, 576 B of values, 8 B of scales.

SGLang's ``transfer_cache_dsv4_mla`` (``kvcacheio.cuh``: kPageSize 64, kPageBytes 37,440,
kScaleOffset 36,864): right for c4 latents, wrong for every other pool and dtype.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from kernels.jit import jit, require, tl

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.layout import LayerView

WORD = 8
PAGE_TOKENS, VALUE_BYTES, SCALE_BYTES = 64, 576, 8
PAGE_BYTES, SCALE_OFFSET = 37_440, 36_864
WORDS = VALUE_BYTES // WORD + 1  # 72 of values, one of scales
BLOCK = 128


def token_copy_c4_geometry(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
) -> None:
    """Copy ``src_slots`` to ``dst_slots``, int64 [N], where ``live``, as if both sides were c4.

    Works on the bytes of one layer as they lie in memory. What falls outside either side, the real
    kernel reads and writes; this one drops it. On a GPU nothing waits for the device.
    """
    mine, theirs = _flat(dst), _flat(src)
    if mine.is_cuda or theirs.is_cuda:
        _on_gpu(mine, theirs, dst_slots, src_slots, live)
        return
    if live is not None:
        dst_slots, src_slots = dst_slots[live], src_slots[live]
    to, frm = _words(dst_slots), _words(src_slots)
    inside = (to >= 0) & (to < len(mine)) & (frm >= 0) & (frm < len(theirs))
    mine[to[inside]] = theirs[frm[inside]]


def _flat(view: LayerView) -> Tensor:
    """The layer from its first byte to its last, as int64 words."""
    pages, page_bytes = view.pages.shape
    span = (pages - 1) * view.pages.stride(0) + page_bytes
    return view.pages.as_strided((span // WORD * WORD,), (1,)).view(torch.int64)


def _words(slots: Tensor) -> Tensor:
    """Where the kernel looks for a token: int64 [N, 73], 72 words of values and one of scales."""
    page, token = slots // PAGE_TOKENS * PAGE_BYTES, slots % PAGE_TOKENS
    value = torch.arange(0, VALUE_BYTES, WORD, device=slots.device)
    at = [(page + token * VALUE_BYTES)[:, None] + value]
    at.append((page + SCALE_OFFSET + token * SCALE_BYTES)[:, None])
    return torch.cat(at, 1) // WORD


def _on_gpu(
    mine: Tensor, theirs: Tensor, dst_slots: Tensor, src_slots: Tensor, live: Tensor | None
) -> None:
    """One program a token; either side may be pinned host memory."""
    require()
    device = mine.device if mine.is_cuda else theirs.device
    to, frm = dst_slots.to(device), src_slots.to(device)
    mask = to if live is None else live.to(device)
    if len(to):
        _kernel[(len(to),)](
            mine, theirs, to, frm, mask, len(mine), len(theirs), live is not None,
            PAGE_TOKENS, PAGE_BYTES // WORD, SCALE_OFFSET // WORD, WORDS, BLOCK,
        )  # fmt: skip


@jit
def _kernel(
    dst, src, dst_slots, src_slots, live, DST, SRC, MASKED: tl.constexpr,
    TOKENS: tl.constexpr, PAGE: tl.constexpr, SCALES: tl.constexpr, WORDS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK).to(tl.int64)
    seen = col < WORDS
    if MASKED:
        seen = seen & (tl.load(live + i) != 0)
    frm, to = tl.load(src_slots + i).to(tl.int64), tl.load(dst_slots + i).to(tl.int64)
    last = col == WORDS - 1  # the word of scales
    s_tok, d_tok = frm % TOKENS, to % TOKENS
    s_at = frm // TOKENS * PAGE + tl.where(last, SCALES + s_tok, s_tok * (WORDS - 1) + col)
    d_at = to // TOKENS * PAGE + tl.where(last, SCALES + d_tok, d_tok * (WORDS - 1) + col)
    seen = seen & (frm >= 0) & (to >= 0) & (s_at < SRC) & (d_at < DST)
    word = tl.load(src + s_at, mask=seen)
    tl.store(dst + d_at, word, mask=seen)

"""The token copy that takes every pool for c4: 64 tokens a page, 576 B of values, 8 B of scales.

SGLang's ``transfer_cache_dsv4_mla`` (``kvcacheio.cuh``: kPageSize 64, kPageBytes 37,440,
kScaleOffset 36,864): right for c4 latents, wrong for every other pool and dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.layout import LayerView

WORD = 8
PAGE_TOKENS, VALUE_BYTES, SCALE_BYTES = 64, 576, 8
PAGE_BYTES, SCALE_OFFSET = 37_440, 36_864


def token_copy_c4_geometry(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
) -> int:
    """Copy ``src_slots`` to ``dst_slots``, int64 [N], where ``live``, as if both sides were c4.

    Works on the bytes of one layer as they lie in memory. Returns how many bytes fell outside
    either side: the real kernel reads and writes them, this one drops them.
    """
    if live is not None:
        dst_slots, src_slots = dst_slots[live], src_slots[live]
    mine, theirs = _flat(dst), _flat(src)
    to, frm = _words(dst_slots.to(mine.device)), _words(src_slots.to(mine.device))
    inside = (to >= 0) & (to < len(mine)) & (frm >= 0) & (frm < len(theirs))
    to, frm = to[inside], frm[inside]
    mine[to] = theirs[frm.to(theirs.device)].to(mine.device)
    return (inside.numel() - len(to)) * WORD


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

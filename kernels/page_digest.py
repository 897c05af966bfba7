"""Digest of whole pages, bound to the position of every byte: swapping two rows inside a page
changes it.

Rule: integer arithmetic modulo 2**64 only, so one page has one digest on every device.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

import torch
from torch import Tensor

from kernels.jit import jit, require, tl
from kernels.layout import LayerView

GOLDEN, MIX = -7046029254386353131, -4658895280553007687  # odd 64-bit constants of splitmix64
WORD = 8
BLOCK_PAGES = 16


def page_digest_ref(src: LayerView, pages: Tensor) -> Tensor:
    """int64 [N] digests of `pages` (int64 [N]) over all `page_bytes`, padding included; equal bytes
    give equal digests, whatever the page's index.
    """
    out = torch.empty(len(pages), dtype=torch.int64, device=pages.device)
    for i in range(0, len(pages), BLOCK_PAGES):
        part = slice(i, i + BLOCK_PAGES)
        out[part] = _digest(src.pages.index_select(0, pages[part]))
    return out


def _digest(rows: Tensor) -> Tensor:
    """Sum over 64-bit words of a mix of the word and its place; a short last word is padded."""
    spare = -rows.shape[1] % WORD
    words = torch.nn.functional.pad(rows, (0, spare)).view(torch.int64)
    place = torch.arange(1, words.shape[1] + 1, device=rows.device)
    # shifts are arithmetic: x ^ (x >> n) is still one to one, and Triton shifts int64 alike
    x = words + place * GOLDEN
    x = (x ^ (x >> 30)) * MIX
    return (x ^ (x >> 27)).sum(1)


@jit
def _page_digest_kernel(
    words, pages, out, w_page, WORDS,
    GOLD: tl.constexpr, MIXER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64)
    page = tl.load(pages + i).to(tl.int64)
    total = tl.zeros([BLOCK], tl.int64)
    for start in range(0, WORDS, BLOCK):
        place = start + tl.arange(0, BLOCK)
        word = tl.load(words + page * w_page + place, mask=place < WORDS, other=0)
        x = word + (place.to(tl.int64) + 1) * GOLD
        x = (x ^ (x >> 30)) * MIXER
        total += tl.where(place < WORDS, x ^ (x >> 27), 0)
    tl.store(out + i, tl.sum(total, axis=0))


def page_digest_triton(src: LayerView, pages: Tensor) -> Tensor:
    """`page_digest_ref` as one program a page. Raises ValueError if pages are not whole words."""
    require()
    if src.layout.page_bytes % WORD:
        raise ValueError(f"page of {src.layout.page_bytes} bytes: the kernel reads 8-byte words")
    out = torch.empty(len(pages), dtype=torch.int64, device=pages.device)
    words = src.pages.view(torch.int64)
    if len(pages) > 0:
        _page_digest_kernel[(len(pages),)](
            words, pages, out, words.stride(0), words.shape[1], GOLDEN, MIX, 1024
        )
    return out

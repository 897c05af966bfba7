"""Digest of whole pages, bound to the position of every byte: swapping two rows inside a page
changes it.

Rule: integer arithmetic modulo 2**64 only, so one page has one digest on every device.
"""

import torch
from torch import Tensor

from kernels.layout import LayerView

GOLDEN, MIX = -7046029254386353131, -4658895280553007687  # odd 64-bit constants of splitmix64
BLOCK_PAGES = 16


def page_digest_ref(src: LayerView, pages: Tensor) -> Tensor:
    """int64 [N] digests of `pages` (int64 [N]) over all `page_bytes`, padding included; equal bytes
    give equal digests at any page index.
    """
    starts = range(0, len(pages), BLOCK_PAGES)
    blocks = (src.pages.index_select(0, pages[i : i + BLOCK_PAGES]) for i in starts)
    return torch.cat([_digest(rows) for rows in blocks])


def _digest(rows: Tensor) -> Tensor:
    spare = -rows.shape[1] % 8
    words = torch.nn.functional.pad(rows, (0, spare)).view(torch.int64)
    x = words + (torch.arange(words.shape[1]) + 1) * GOLDEN
    x = (x ^ (x >> 30)) * MIX
    return (x ^ (x >> 27)).sum(1)

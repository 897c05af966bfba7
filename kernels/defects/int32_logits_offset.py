"""Where the logits of a row begin, when the product of row and width is taken in int32.

An indexer kernel that computes ``out + b * max_seq_len + entry`` on 32-bit arguments: from
2,147,483,648 entries on the product is negative, and the row lies before the buffer. int64 before
the multiply is the whole cure (as in ``kernels/indexer_logits.py``).
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from kernels.jit import jit, require, tl

if TYPE_CHECKING:
    from torch import Tensor

BLOCK = 128


def row_offset(row: int, width: int, bits: int = 32) -> int:
    """The entry at which ``row`` begins in rows of ``width`` entries, its product wrapped to
    ``bits`` bits; fewer bits than 32 are a small model of the same fault.
    """
    half = 1 << (bits - 1)
    return (row * width + half) % (2 * half) - half


def row_offsets_triton(rows: Tensor, width: int, bits: int = 32) -> Tensor:
    """The same as a kernel computes it: int64 [N] for int32 ``rows`` [N]; ``bits`` is 32 or 64."""
    require()
    out = torch.empty_like(rows, dtype=torch.int64)
    if len(rows):
        _kernel[(-(-len(rows) // BLOCK),)](rows, out, len(rows), width, bits == 64, BLOCK)
    return out


@jit
def _kernel(rows, out, N, WIDTH, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    b = tl.load(rows + i, mask=i < N, other=0)
    if WIDE:
        b = b.to(tl.int64)
    tl.store(out + i, b * WIDTH, mask=i < N)

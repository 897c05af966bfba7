"""Where a row's context lies in the pools. One rule: a page table in, slots out, -1 = none.

The same page index addresses every pool, so a pool's slot is ``page * entries per page + entry``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.scribe.rope_kernels import WINDOW

BLOCKS = PAGE_TOKENS // C128_RATIO  # c128 entries a page


def window_slots(position: Tensor, page_table: Tensor) -> Tensor:
    """int32 [rows, 128]: token slots of the window that ends at each position (int64 [rows])."""
    span = torch.arange(1 - WINDOW, 1, device=position.device)
    at = position[:, None] + span
    page = page_table.gather(1, (at // PAGE_TOKENS).clamp_(min=0))
    slot = page * PAGE_TOKENS + (at % PAGE_TOKENS).to(torch.int32)
    return slot.masked_fill_(at < 0, -1)


def context_slots(start: int, page_table: Tensor, slots: Tensor) -> Tensor:
    """int64 [C]: token slots of the (at most) 127 positions before a chunk, then its own."""
    at = torch.arange(max(0, start - WINDOW + 1), start, device=slots.device)
    before = page_table[at // PAGE_TOKENS].long() * PAGE_TOKENS + at % PAGE_TOKENS
    return torch.cat([before, slots])


def block_slots(seq_len: Tensor, page_table: Tensor) -> Tensor:
    """int32 [rows, 2 * pages]: c128 slots of the blocks that are complete at each length."""
    offset = torch.arange(BLOCKS, dtype=torch.int32, device=page_table.device)
    slot = (page_table[:, :, None] * BLOCKS + offset).flatten(1)
    last = torch.arange(1, slot.shape[1] + 1, device=slot.device) * C128_RATIO
    return slot.masked_fill_(last > seq_len[:, None], -1)


def entries(seq_len: Tensor) -> Tensor:
    """int32 [rows]: complete c4 entries at each length."""
    return seq_len // C4_RATIO

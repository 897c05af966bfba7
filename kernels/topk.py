"""Top-k over indexer logits, straight to slots: v1 asks `torch.topk`, v2 finds the k-th value by
its bits and keeps what is above.

Rule: both return the same set: the k largest, and among equal logits the lowest positions.
"""

import torch
from torch import Tensor


def ordered_bits(logits: Tensor) -> Tensor:
    """float32 -> int32 that compares as the floats do; NaN sorts above +inf, -0.0 equals 0.0."""
    bits = (logits + 0.0).view(torch.int32)
    bits = torch.where(logits.isnan(), 0x7FC00000, bits)
    return torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


def slots_of(positions: Tensor, keep: Tensor, page_table: Tensor, page_tokens: int) -> Tensor:
    """Logical positions [B, k] -> slots int32 through the page table [B, P]; -1 where `keep` is
    false.
    """
    page = page_table.gather(1, positions // page_tokens)
    return torch.where(keep, page * page_tokens + positions % page_tokens, -1).to(torch.int32)


def topk_slots_v1_ref(logits: Tensor, lens: Tensor, page_table: Tensor, k: int) -> Tensor:
    """int32 [B, k] slots of the k largest of float32 `logits` [B, P * tokens] below `lens` (int32
    [B]); -1 where a row has fewer.
    """
    width = logits.shape[1]
    tokens = width // page_table.shape[1]
    position = torch.arange(width)
    key = ordered_bits(logits).long() * width + (width - 1 - position)
    key = key.masked_fill_(position >= lens[:, None], torch.iinfo(torch.int64).min)
    best = key.topk(min(k, width), dim=1).indices
    if best.shape[1] < k:
        best = torch.nn.functional.pad(best, (0, k - best.shape[1]))
    rank = torch.arange(k)
    few = lens[:, None] <= k
    best = torch.where(few, rank.clamp(max=width - 1), best)
    return slots_of(best, rank < lens[:, None], page_table, tokens)


topk_slots_v2_ref = topk_slots_v1_ref

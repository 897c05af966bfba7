"""Top-k over indexer logits, straight to slots: v1 asks `torch.topk`, v2 finds the k-th value by
its bits, digit by digit, and keeps what is not below it.

Rule: both return the same set: the k largest, NaN above all, and of equal logits those at the
lowest positions.
"""

import torch
from torch import Tensor

from kernels.topk_select import TopkPlan, select_slots

DIGITS = ((21, 11), (10, 11), (0, 10))  # (shift, bits) of a 32-bit key, highest first


def topk_slots_v1_ref(logits: Tensor, lens: Tensor, page_table: Tensor, k: int) -> Tensor:
    """int32 [B, k] slots of the k largest of float32 `logits` [B, P * page_tokens], which are -inf
    at and beyond `lens` (int32 [B]); all positions in order where `lens` <= k, then -1.
    """
    width = logits.shape[1]
    best, chosen = logits.topk(min(k + 1, width), dim=1)
    if width > k:
        # torch.topk breaks ties as it likes: where one crosses the edge, position decides;
        # NaNs are ties too, though no NaN equals another
        edge, below = best[:, k - 1], best[:, k]
        tied = ((edge == below) | (edge.isnan() & below.isnan())) & (lens > k)
        chosen = chosen[:, :k]
        if bool(tied.any()):
            chosen[tied] = largest_positions(logits[tied], k)
    return _to_slots(chosen, lens, page_table, k, width)


def topk_slots_v2_ref(logits: Tensor, lens: Tensor, page_table: Tensor, k: int) -> Tensor:
    """The same set as v1, in order of position, by radix selection instead of `torch.topk`."""
    width = logits.shape[1]
    return _to_slots(largest_positions(logits, min(k, width)), lens, page_table, k, width)


def ordered_bits(logits: Tensor) -> Tensor:
    """float32 -> int32 that orders as the floats do: -0.0 equals 0.0, every NaN is above +inf."""
    bits = (logits + 0.0).view(torch.int32)
    if logits.is_cuda or bool(logits.amax().isnan()):
        bits = torch.where(logits.isnan(), 0x7FC00000, bits).to(torch.int32)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def largest_positions(logits: Tensor, k: int) -> Tensor:
    """Positions int64 [B, k], ascending, of the k largest of each row; ties go to the lowest."""
    key = ordered_bits(logits)
    edge, wanted, present = _radix_edge(key, k)
    keep = key >= edge[:, None]
    if not torch.equal(wanted, present):
        level = key == edge[:, None]
        late = level.cumsum(1, dtype=torch.int32) > wanted[:, None]
        keep &= ~(level & late)
    return keep.nonzero()[:, 1].view(len(logits), k)


def _radix_edge(key: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """The k-th largest of each row of int32 `key` [B, N], how many that equal it belong to the k
    largest, and how many there are.

    Invariant: `keys` are those that share the edge's digits so far; the edge is the `wanted`-th
    largest of them.
    """
    batch = len(key)
    row = torch.arange(batch, dtype=torch.int32)[:, None].expand_as(key).flatten()
    keys, edge = key.flatten(), torch.zeros(batch, dtype=torch.int32)
    wanted = torch.full((batch,), k)
    present = wanted
    for shift, bits in DIGITS:
        # the top digit keeps its sign, so shift it to count from 0
        low = -(1 << bits >> 1) if shift + bits == 32 else 0
        digit = (keys >> shift) - low if low else (keys >> shift) & ((1 << bits) - 1)
        bins = torch.bincount((row << bits) + digit, minlength=batch << bits).view(batch, -1)
        at_least = bins.flip(1).cumsum(1).flip(1)
        pick = (at_least >= wanted[:, None]).sum(1, keepdim=True) - 1
        present = bins.gather(1, pick).squeeze(1)
        wanted = wanted - (at_least.gather(1, pick).squeeze(1) - present)
        edge += (pick.squeeze(1).to(torch.int32) + low) << shift
        inside = digit == pick.squeeze(1).to(torch.int32)[row]
        keys, row = keys[inside], row[inside]
    return edge, wanted, present


def _to_slots(chosen: Tensor, lens: Tensor, page_table: Tensor, k: int, width: int) -> Tensor:
    """Chosen positions -> slots through the page table; short rows take every position instead."""
    tokens, rank = width // page_table.shape[1], torch.arange(k, device=lens.device)
    if chosen.shape[1] < k:
        chosen = torch.nn.functional.pad(chosen, (0, k - chosen.shape[1]))
    few = lens[:, None] <= k
    position = torch.where(few, rank.clamp(max=width - 1), chosen)
    slots = page_table.gather(1, position // tokens) * tokens + position % tokens
    return torch.where(few & (rank >= lens[:, None]), -1, slots).to(torch.int32)


def topk_slots_v1_triton(logits: Tensor, lens: Tensor, page_table: Tensor, k: int) -> Tensor:
    """`topk_slots_v1_ref` with nothing that waits for the device: `torch.topk` over 64-bit keys
    whose low half is the position, so that no two are equal.
    """
    width = logits.shape[1]
    position = torch.arange(width, device=logits.device)
    key = (ordered_bits(logits).long() << 32) + (width - 1 - position)
    chosen = key.topk(min(k, width), dim=1, sorted=False).indices
    return _to_slots(chosen, lens, page_table, k, width)


def topk_slots_v2_triton(
    logits: Tensor, lens: Tensor, page_table: Tensor, k: int, plan: TopkPlan | None = None
) -> Tensor:
    """`topk_slots_v2_ref` by counting in registers: see `kernels.topk_select`."""
    return select_slots(logits, lens, page_table, k, plan)

"""Both selections return the same set of slots: the largest, and of equals the first."""

import pytest
import torch

from kernels.cases import TOP_K
from kernels.ops import Ops

WIDTH, PAGES = 320, 5


def restate(logits: torch.Tensor, length: int, pages: torch.Tensor, k: int) -> list[int]:
    """Sorted slots, by a stable sort."""
    order = logits.nan_to_num(nan=torch.inf).double().sort(descending=True, stable=True).indices
    picked = order[:k].tolist() if length > k else list(range(length))
    slots = [int(pages[p // 64]) * 64 + p % 64 for p in picked]
    return sorted(slots + [-1] * (k - len(slots)))


def batch(kind: str, g: torch.Generator) -> tuple[torch.Tensor, ...]:
    lens = torch.tensor([320, 1, 63, 64, 65, 200, 17], dtype=torch.int32)
    logits = torch.randn(7, WIDTH, generator=g)
    if kind == "ties":
        logits = logits.round()
    elif kind == "rectified":
        logits = (logits - 1.5).relu()
    elif kind == "nan":
        logits[0, 100] = logits[5, 3] = torch.nan
        logits[5, 3] = -logits[5, 3]
    elif kind == "many nans":  # more of them than k: the edge lies between two
        logits[torch.rand(logits.shape, generator=g) < 0.7] = torch.nan
    elif kind == "signed zero":
        logits = torch.where(logits > 0, 0.0, -0.0)
    logits.masked_fill_(torch.arange(WIDTH) >= lens[:, None], -torch.inf)
    pages = torch.randperm(99, generator=g)[: 7 * PAGES].view(7, PAGES).to(torch.int32)
    return logits, lens, pages


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("k", TOP_K)
@pytest.mark.parametrize("kind", ["plain", "ties", "rectified", "nan", "many nans", "signed zero"])
def test_the_set_is_the_largest(
    ops: Ops, kind: str, k: int, version: str, g: torch.Generator
) -> None:
    logits, lens, pages = batch(kind, g)
    select = ops.topk_slots_v1 if version == "v1" else ops.topk_slots_v2
    slots = select(logits, lens, pages, k)
    assert slots.dtype == torch.int32
    assert slots.shape == (7, k)
    for i in range(7):
        assert sorted(slots[i].tolist()) == restate(logits[i], int(lens[i]), pages[i], k)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("k", [320, 600])
def test_more_than_there_is_takes_all_in_order(
    ops: Ops, k: int, version: str, g: torch.Generator
) -> None:
    logits, lens, pages = batch("plain", g)
    select = ops.topk_slots_v1 if version == "v1" else ops.topk_slots_v2
    slots = select(logits, lens, pages, k)
    for i, n in enumerate(lens.tolist()):
        want = [int(pages[i, p // 64]) * 64 + p % 64 for p in range(n)]
        assert slots[i].tolist() == want + [-1] * (k - n)

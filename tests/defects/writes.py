"""Index-K pools of a few pages, and one store call with dead rows, for the defects' tests."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.pools import layouts
from engine.runner.dead_rows import DeadRows
from engine.runner.index_store import IndexKStore
from kernels.layout import LayerView

PAGES, ENTRIES = 5, 64
LAST = PAGES * ENTRIES - 1


def pool(dtype: str) -> LayerView:
    """A zeroed index-K pool of five pages."""
    layout = layouts.index_k(dtype, 1)
    return layout.layer(layout.allocate(PAGES), 0)


def slot(page: int, entry: int) -> int:
    """The c4 slot of an entry."""
    return page * ENTRIES + entry


def raw(c4_slot: int) -> int:
    """The raw-token slot whose token completes the entry."""
    return c4_slot * 4 + 3


def touched(view: LayerView) -> list[int]:
    """The slots that hold anything but zeros."""
    value = view.plane("value").view(torch.uint8)
    return value.any(dim=2).flatten().nonzero().flatten().tolist()


def write(store: IndexKStore, view: LayerView, loc: Tensor, live: Tensor) -> list[int]:
    """Store one key a row; what the store says it wrote."""
    return store.store(view, torch.ones(len(loc), 128), loc, live).tolist()


def replay(
    rule: DeadRows, store: IndexKStore, view: LayerView, before: list[int], now: list[int]
) -> list[int]:
    """Two captured replays on one static buffer, of which the second is smaller: what it wrote.

    ``before`` and ``now`` are c4 slots. All complete but the first row of ``now``.
    """
    static = torch.tensor([raw(at) for at in before])
    loc = rule.settle(static, len(before), torch.ones(len(before), dtype=torch.bool))
    write(store, view, loc, torch.ones(len(before), dtype=torch.bool))
    view.pages.zero_()
    static[: len(now)] = torch.tensor([raw(at) for at in now])
    completes, rows = torch.arange(len(now)) > 0, torch.arange(len(before))
    return write(store, view, rule.settle(static, len(now), completes), rows < len(now))

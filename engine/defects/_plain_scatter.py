"""The bf16 index-K store as a plain indexed write (not a defect by itself: two defects share it).

The fp8 store is a fused kernel that skips rows which are not live; the bf16 one is
``buffer.view(-1, 128)[loc] = key``, which writes every row, and takes -1 as the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.runner.index_store import GuardedStore
from kernels.defects.plain_scatter import plain_scatter

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.layout import LayerView


class PlainScatterForBf16(GuardedStore):
    """bf16 keys are scattered to whatever slot a row carries."""

    def store(self, view: LayerView, key: Tensor, loc: Tensor, live: Tensor) -> Tensor:
        """Scatter bf16 without a guard; fp8 keeps its guarded kernel."""
        written = plain_scatter(view, key, loc)
        return super().store(view, key, loc, live) if written is None else written

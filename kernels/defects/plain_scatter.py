"""The index-K store without its guard: ``view[loc] = key``, negative rows from the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.layout import LayerView


def plain_scatter(dst: LayerView, key: Tensor, slots: Tensor) -> Tensor | None:
    """Write every row of ``key`` f32 [N, 128] at ``slots`` int64 [N], dead or not.

    Returns the slots really written, int64 [N] (-1 became the last slot of the pool); None where
    the layout is not a plain bf16 row, which this operation does not know how to write. Of rows
    with one slot the last one stays: a GPU leaves the order open, and a run must be the same twice.
    """
    value = dst.plane("value")
    if value.dtype != torch.bfloat16:
        return None
    pages, page_tokens = value.shape[:2]
    real = torch.where(slots < 0, slots + pages * page_tokens, slots)
    value[real // page_tokens, real % page_tokens] = key[_last(real)].to(torch.bfloat16)
    return real


def _last(slots: Tensor) -> Tensor:
    """The last row that has each row's slot, int64 [N]: rows of one slot write the same."""
    row = torch.arange(len(slots), device=slots.device)
    return torch.where(slots[:, None] == slots, row, -1).amax(1)

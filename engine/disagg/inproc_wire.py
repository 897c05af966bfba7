"""The wire between two engines of one process: batched tensor copies, on the CPU or a GPU.

One rule: a write costs the same few calls however many items it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.disagg.timed_wire import TimedWire
from kernels.layout import widest_word

if TYPE_CHECKING:
    from engine.disagg.wire import Write


class InprocWire(TimedWire):
    """Copies items with ``index_select`` and ``index_copy_``; both sides on one device."""

    def _move(self, writes: Sequence[Write], note: str) -> str:
        index: dict[tuple[int, ...], Tensor] = {}  # the regions of a pool share their pages
        for write in writes:
            self._copy(write, index)
        if note:
            self._arrived.append(note)
        return ""

    def _copy(self, write: Write, index: dict[tuple[int, ...], Tensor]) -> None:
        source, target = self._memory("prefill", write), self._memory("decode", write)
        size = write.src_len
        if len(write.src) == 1:
            start = write.dst[0] * write.dst_len
            target[start : start + size] = source.narrow(0, write.src[0] * size, size)
        elif write.src:
            for items in (write.src, write.dst):
                if items not in index:
                    index[items] = torch.tensor(items, dtype=torch.int64, device=target.device)
            rows, places = _rows(source, size, size), _rows(target, size, write.dst_len)
            word = widest_word(rows, places)
            moved = rows.view(word).index_select(0, index[write.src])
            places.view(word).index_copy_(0, index[write.dst], moved)


def _rows(memory: Tensor, size: int, stride: int) -> Tensor:
    """Items of ``size`` bytes that start every ``stride`` bytes, [items, size], a view."""
    items = (len(memory) - size) // stride + 1
    return memory.as_strided((items, size), (stride, 1))

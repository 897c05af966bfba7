"""Digests of rows, which follow their bytes as tags do: who reads a row knows what was left in it.

One rule: a digest is taken from the pool, right behind the store that wrote the row; a copy takes
its source's along, so that bytes which change on the way, or lie changed at either end, are seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from engine.shadow.chains import links

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from kernels.layout import LayerView

WORDS = {8: torch.int64, 4: torch.int32, 1: torch.uint8}  # by bytes, the widest first


class RowBytes:
    """The bytes of one layer of one pool, row by row, every plane's."""

    def __init__(self, view: LayerView) -> None:
        self._view = view
        self._planes: list[tuple[str, Tensor, torch.dtype]] = []
        first = 0
        for plane in view.layout.planes:
            width = next(width for width in WORDS if plane.row_bytes % width == 0)
            n = plane.row_bytes // width
            weights = _weights(first, n).to(view.pages.device)
            self._planes.append((plane.name, weights, WORDS[width]))
            first += n

    @torch.inference_mode()
    def of(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64 [n] digests of the rows of slots int64 [n]: a sum over the row's words, each times
        an odd weight of its place, its upper half folded in, modulo 2**64.
        """
        at = torch.from_numpy(slots).to(self._view.pages.device)
        total = torch.zeros(len(slots), dtype=torch.int64, device=at.device)
        for name, weights, word in self._planes:
            mixed = self._view.gather(name, at).view(word) * weights
            total += mixed.bitwise_xor_(mixed >> 32).sum(1)  # else two sign bits would cancel
        found: NDArray[np.int64] = total.cpu().numpy()
        return found


def _weights(first: int, n: int) -> Tensor:
    """int64 [n], odd, of the places from ``first`` on."""
    places = np.arange(first, first + n, dtype=np.int64)
    return torch.from_numpy(links(np.zeros_like(places), places) | 1)

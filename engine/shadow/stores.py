"""Whether a store of latents left what it was given. One rule: each call is repeated into a buffer
of the watch's own, and what lies in the pool is held against that; the pool is never touched.

A row that is not as it should be was not stored: a reader finds whatever was there before, and is
told so (`engine.shadow.writing`). Watched at level full and on a CPU, for swa, c4 and c128. Of
index keys the store itself says what it wrote, at every level; of the states nobody says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from engine.shadow.digests import RowBytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from engine.pools.device import Pool
    from kernels.layout import LayerView
    from kernels.ops import StoreLatent

    Ints = NDArray[np.int64]
    Place = tuple[str, int]  # pool, layer


class Copybook:
    """The rows of one layer, and a buffer in which a call that wrote some is done again."""

    def __init__(self, pool: Pool, view: LayerView, rows: int) -> None:
        layout = pool.layout
        self._first = layout.page_tokens  # slot 0 is written by nobody
        buffer = layout.allocate(2 + rows // layout.page_tokens, str(view.pages.device))
        self._again = layout.layer(buffer, 0)
        self._bytes, self._wanted = RowBytes(view), RowBytes(self._again)

    def lost(self, store: StoreLatent, latent: Tensor, slots: Tensor) -> Ints:
        """The slots that hold anything but what ``latent`` float32 [n, 512] makes of them."""
        at = torch.arange(self._first, self._first + len(slots))
        store(self._again, latent, at, torch.ones_like(at, dtype=torch.bool))
        written, where = slots.numpy(), at.numpy()
        found: Ints = written[self._bytes.of(written) != self._wanted.of(where)]
        return found


class LatentStores:
    """``store`` as the model calls it; ``rows`` are the most that one call writes."""

    def __init__(self, store: StoreLatent, pools: Sequence[Pool], rows: int) -> None:
        self.store = self._again = store
        self._books = {
            id(view): ((pool.name, layer), Copybook(pool, view, rows))
            for pool in pools
            if pool.name in ("swa", "c4", "c128")
            for layer, view in enumerate(pool.layers)
        }
        self._lost: dict[Place, Ints] = {}

    def __call__(self, dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None:
        self.store(dst, latent, slots, live)
        keep = live & (slots > 0)
        if not keep.any():
            return
        place, book = self._books[id(dst)]
        lost = book.lost(self._again, latent[keep], slots[keep])
        if len(lost):
            self._lost[place] = np.union1d(lost, self._lost.get(place, lost))

    def taken(self) -> dict[Place, Ints]:
        """The slots int64 [n] that calls did not store since this was asked last, by layer."""
        found, self._lost = self._lost, {}
        return found

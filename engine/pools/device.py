"""The device buffers behind the page table. One rule: one page index addresses every pool.

Page 0 is reserved in each (padded rows write there), so a pool of ``n`` pages allocates ``n + 1``.
The c128 states are addressed by request slot, whose row 0 is reserved likewise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import torch

from engine.config import C4_RATIO, C128_RATIO
from engine.pools import layouts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.config import EngineConfig
    from kernels.layout import LayerView, PageLayout


REQUEST_ADDRESSED = "c128_state"  # of no page: production does not mirror it either
POISON = 0xFF  # NaN as e4m3, bfloat16 and float32


@dataclass(frozen=True)
class Pool:
    """One pool: its layout, its bytes (uint8) and a view of each layer."""

    name: str
    layout: PageLayout
    buffer: Tensor
    layers: tuple[LayerView, ...]


class PoolBuffer(Protocol):
    """Seam ``index_k_buffer``: how many bytes does a pool get, and where does each page lie?"""

    def allocate(self, name: str, layout: PageLayout, rows: int, device: str) -> Pool:
        """A zeroed pool of ``rows`` pages, the reserved page 0 included."""
        ...


class SizedByLayout:
    """Bytes and page starts come from the layout that stores use: no two rows share a byte."""

    def allocate(self, name: str, layout: PageLayout, rows: int, device: str) -> Pool:
        """A zeroed pool of ``rows`` pages, the reserved page 0 included."""
        buffer = layout.allocate(rows, device)
        views = tuple(layout.layer(buffer, i) for i in range(layout.layers))
        return Pool(name, layout, buffer, views)


class Gate(Protocol):
    """What a getter asks before it hands out bytes: are they there? (``wait_layer_transfer``)"""

    def wait(self, pool: str, layer: int) -> None:
        """Return when what a restore brings to ``pool`` at ``layer`` may be read."""


class NoGate:
    """Nothing is ever on its way: an engine without a host tier."""

    def wait(self, pool: str, layer: int) -> None:
        return


@dataclass(frozen=True)
class DevicePools:
    """Every device pool of one engine, and the views that the model reads and writes.

    ``swa[layer]``, ``c4``, ``c128``, ``index_k`` are one layer's bytes, for stores; the getters
    below give the same views for reads, and wait. The states are float32: ``c4_state``
    [pages, 8, 2048], ``index_state`` [pages, 8, 512], ``c128_state`` [request slots, 128, 1024].
    """

    swa: tuple[LayerView, ...]
    c4: LayerView
    c128: LayerView
    index_k: LayerView
    c4_state: Tensor
    index_state: Tensor
    c128_state: Tensor
    pools: tuple[Pool, ...]
    c4_layer: int
    c128_layer: int
    gate: Gate = field(default_factory=NoGate)

    def swa_key_buffer(self, layer: int) -> LayerView:
        """The window's latents of a layer, once they are there."""
        self.gate.wait("swa", layer)
        return self.swa[layer]

    def c4_key_buffer(self) -> LayerView:
        """The c4 latents, once they are there."""
        self.gate.wait("c4", self.c4_layer)
        return self.c4

    def c128_key_buffer(self) -> LayerView:
        """The c128 latents, once they are there."""
        self.gate.wait("c128", self.c128_layer)
        return self.c128

    def index_k_buffer(self) -> LayerView:
        """The index keys, once they are there."""
        self.gate.wait("index_k", self.c4_layer)
        return self.index_k

    @property
    def paged(self) -> tuple[Pool, ...]:
        """The pools that a page index addresses: all but c128's states, which go by request."""
        return tuple(pool for pool in self.pools if pool.name != REQUEST_ADDRESSED)

    def poison(self, pages: Sequence[int]) -> None:
        """Fill free pages with bytes that no reader mistakes for a row: NaN in every format."""
        ids = torch.tensor(pages)
        for pool in self.paged:
            pool.layout.by_page(pool.buffer)[ids] = POISON


def allocate(config: EngineConfig, index_k_buffer: PoolBuffer) -> DevicePools:
    """All pools of an engine, zeroed, on ``config.device``."""
    ratios = config.model.compress_ratios
    n4, n128 = ratios.count(4), ratios.count(128)
    rows, requests = config.pool_pages + 1, config.max_running + 1
    by_layout, device = SizedByLayout(), config.device
    swa = by_layout.allocate("swa", layouts.swa(len(ratios)), rows, device)
    c4 = by_layout.allocate("c4", layouts.c4(n4), rows, device)
    c128 = by_layout.allocate("c128", layouts.c128(n128), rows, device)
    index_layout = layouts.index_k(config.index_k, n4)
    index_k = index_k_buffer.allocate("index_k", index_layout, rows, device)
    c4_state = by_layout.allocate("c4_state", layouts.c4_state(n4), rows, device)
    index_state = by_layout.allocate("index_state", layouts.index_state(n4), rows, device)
    c128_state = by_layout.allocate(REQUEST_ADDRESSED, layouts.c128_state(n128), requests, device)
    return DevicePools(
        swa=swa.layers,
        c4=c4.layers[0],
        c128=c128.layers[0],
        index_k=index_k.layers[0],
        c4_state=c4_state.layers[0].plane("state"),
        index_state=index_state.layers[0].plane("state"),
        c128_state=c128_state.layers[0].plane("state"),
        pools=(swa, c4, index_k, c128, c4_state, index_state, c128_state),
        c4_layer=ratios.index(C4_RATIO),
        c128_layer=ratios.index(C128_RATIO),
    )

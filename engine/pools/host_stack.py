"""The host tier: one mirror a device pool, addressed by one host page.

One rule: a copy says at its issue which generations it means, and looks again when it lands.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.cache.tiers import HostPage
from engine.config import C128_RATIO, PAGE_TOKENS
from engine.pools.allocator import PageAllocator
from engine.pools.anchor import LogicalHostPool
from engine.pools.host import HostPool, Moves
from engine.pools.layouts import FLASH_LAYERS
from engine.shadow.host_edges import HostShadow
from engine.shadow.host_watch import HostWatch
from engine.shadow.loads import LoadWatch
from engine.shadow.mirrors import MirrorWatch
from engine.streams import Stage
from kernels.layout import Order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.config import EngineConfig
    from engine.events import EventLog
    from engine.pools.device import DevicePools
    from engine.pools.host_layout import HostLayout
    from engine.pools.token_transfer import TokenTransfer
    from engine.pools.transfer_pieces import TransferPieces
    from engine.shadow.host_watch import PageCopy
    from engine.shadow.loads import Generations, Load, PageUsers
    from engine.shadow.memory import ShadowMemory
    from engine.shadow.mirrors import Digests
    from kernels.ops import Ops

C4_POOLS = ("c4", "index_k", "c4_state", "index_state")


@dataclass(frozen=True)
class HostQuestions:
    """The three questions that a build can answer wrongly here."""

    layout: HostLayout
    pieces: TransferPieces
    tokens: TokenTransfer


class HostStack:
    """Mirrors of every page-addressed pool; implements ``HostTier`` (which see)."""

    def __init__(
        self,
        config: EngineConfig,
        pools: DevicePools,
        ops: Ops,
        ask: HostQuestions,
        events: EventLog,
        users: PageUsers,
        shadow: ShadowMemory | None = None,
    ) -> None:
        self.pages = config.host_pages
        self._anchor = LogicalHostPool(self.pages)
        # another order than the anchor's: no copy is right by chance if it mixes the two up
        rng = random.Random(f"{config.seed}:host swa")
        self._swa = PageAllocator(self.pages, "random", rng)
        ratios, order = config.model.compress_ratios, Order(config.hicache_layout)
        moves = Moves(
            config.hicache_io, config.hicache_slot_page, ops.page_copy, ask.tokens, ask.pieces
        )
        mirrored = pools.paged
        self.pools = tuple(
            HostPool(
                pool,
                ask.layout.of(pool.name, pool.layout, order, config.host_strategy),
                self.pages + 1,
                moves,
                events,
            )
            for pool in mirrored
        )
        self.shadow = HostWatch() if shadow is None else HostShadow(shadow, self.pools, self.pages)
        self._loads = LoadWatch(events, users, self._generations, self.shadow)
        self._at = [living_at(i, ratios, self.pools) for i in range(len(ratios))]
        self._stage_bytes = [sum(flash_bytes(pool) for pool, _ in here) for here in self._at]
        self._watch = MirrorWatch(mirrored, ops.page_digest, events, self.shadow)
        self._device = pools.pools[0].buffer.device

    @property
    def available(self) -> int:
        """Pages that ``allocate`` could give now."""
        return min(self._anchor.allocator.available, self._swa.available)

    def allocate(self, pages: int) -> list[HostPage] | None:
        """Take host pages, all or none: None where there are fewer."""
        if pages > self.available:
            return None
        anchors = self._anchor.allocate(pages * PAGE_TOKENS) or []
        pairs = zip(anchors, self._swa.allocate(pages), strict=True)
        taken = [HostPage(*pair) for pair in pairs]
        self.shadow.taken(taken)
        return taken

    def free(self, pages: Sequence[HostPage]) -> None:
        """Give host pages back; the reserved page is nobody's and is passed over."""
        anchors = [page.anchor for page in pages if page.anchor]
        self._anchor.free(anchors, len(anchors) * PAGE_TOKENS)
        self._swa.free([page.swa for page in pages if page.swa])
        self.shadow.freed(pages)

    def backup(self, device: Sequence[int], host: Sequence[HostPage]) -> list[Stage]:
        """The copy of device pages to host pages, one for one, of every pool: one stage."""
        meant = self._loads.meant(host)
        copy = self.shadow.backup(device, host)
        move = partial(self._back_up, list(device), list(host), meant, copy)
        return [Stage(len(device) * sum(self._stage_bytes), move)]

    def load(self, host: Sequence[HostPage], device: Sequence[int]) -> list[Stage]:
        """The copy of host pages to device pages: one stage a layer of the model, in order."""
        load = self._loads.issued(host, device)
        copy = self.shadow.load(host, device, len(self._at))
        expected = [self._watch.expected(page.anchor) for page in host]
        return [
            Stage(len(device) * nbytes, partial(self._land, load, copy, expected, i))
            for i, nbytes in enumerate(self._stage_bytes)
        ]

    def poll(self) -> None:
        """Judge what was copied since it was last asked; on a GPU that waits for the device."""
        self._watch.poll()

    def settled(self, device: Sequence[int], host: Sequence[HostPage]) -> None:
        """A backup was acknowledged: check that its source still is what was copied."""
        self._watch.settled(device, [page.anchor for page in host])
        self.shadow.settled(device, host)

    def loaded(self, device: Sequence[int]) -> None:
        """A load was acknowledged."""
        self.shadow.loaded(device)

    def _back_up(
        self,
        device: list[int],
        host: list[HostPage],
        meant: list[Generations],
        copy: PageCopy,
    ) -> None:
        ids = self._ids(device)
        anchors, swa = self._host_ids(host)
        for pool in self.pools:
            pool.backup(ids, swa if pool.name == "swa" else anchors)
        self._loads.written(host, meant)
        self.shadow.backed_up(copy)
        self._watch.backed_up(device, [page.anchor for page in host])

    def _land(self, load: Load, copy: PageCopy, expected: list[Digests | None], layer: int) -> None:
        """Move what lives at one layer of the model."""
        self._loads.landing(load)
        ids = self._ids(load.device)
        anchors, swa = self._host_ids(load.host)
        for pool, its_layer in self._at[layer]:
            pool.load(its_layer, swa if pool.name == "swa" else anchors, ids)
        self.shadow.landed(copy, layer, [(pool.name, at) for pool, at in self._at[layer]])
        if layer + 1 == len(self._at):
            self._watch.restored(load.device, [p.anchor for p in load.host], expected)

    def _generations(self, page: HostPage) -> Generations:
        anchor, swa = self._anchor.allocator, self._swa
        return anchor.generation_of(page.anchor), swa.generation_of(page.swa)

    def _ids(self, pages: Sequence[int]) -> Tensor:
        return torch.tensor(pages, dtype=torch.int64, device=self._device)

    def _host_ids(self, pages: Sequence[HostPage]) -> tuple[Tensor, Tensor]:
        return self._ids([p.anchor for p in pages]), self._ids([p.swa for p in pages])


def flash_bytes(pool: HostPool) -> float:
    """Bytes that cross for a page of one of the pool's layers: by DeepSeek-V4-Flash's layers."""
    row = min(pool.layout.page_bytes, pool.device.layout.page_bytes)
    return row * FLASH_LAYERS[pool.name] / pool.layout.layers


def living_at(
    layer: int, ratios: Sequence[int], pools: Sequence[HostPool]
) -> list[tuple[HostPool, int]]:
    """The pools that layer ``layer`` of the model reads, and which of their own layers it is."""
    ratio = ratios[layer]
    of_ratio = {0: (), C128_RATIO: ("c128",)}.get(ratio, C4_POOLS)
    own = ratios[:layer].count(ratio)
    here = [(pool, layer) for pool in pools if pool.name == "swa"]
    return here + [(pool, own) for pool in pools if pool.name in of_ratio]

"""Two tiers small enough to look at every byte."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.cache.tiers import HostPage
from engine.config import EngineConfig
from engine.defects import seams
from engine.events import EventLog
from engine.pools.device import DevicePools, Pool, allocate
from engine.pools.host_stack import HostQuestions, HostStack
from engine.shadow.memory import ShadowMemory
from engine.shadow.mirrors import unpadded
from kernels.ops import Ops

# (hicache_layout, hicache_io): what production can copy
PAIRS = [
    ("layer_first", "kernel"),
    ("page_first", "kernel"),
    ("layer_first", "direct"),
    ("page_first_direct", "direct"),
]
POOLS = ["swa", "c4", "index_k", "c128", "c4_state", "index_state"]


class Users:
    """Requests that hold pages of an older generation; none, unless a test says so."""

    def __init__(self) -> None:
        self.stale: list[tuple[str, int]] = []

    def stale_users(self, pages: Sequence[int]) -> list[tuple[str, int]]:
        return [user for user in self.stale if user[1] in pages]


class Tiers:
    """A device, its host stack, and a way to play a schedule without streams."""

    def __init__(self, **config: object) -> None:
        small = {"pool_pages": 6, "max_running": 1, "hicache": True, **config}
        self.config = EngineConfig(**small)  # type: ignore[arg-type]
        build = seams(self.config.build)
        ops = Ops.reference() if self.config.device == "cpu" else Ops.triton()
        self.events, self.users = EventLog(lambda: 0), Users()
        self.device: DevicePools = allocate(self.config, build.index_k_buffer())
        ask = HostQuestions(build.host_layout(), build.transfer_pieces(), build.token_transfer(ops))
        self.shadow = self.shadowed()
        self.host = HostStack(
            self.config, self.device, ops, ask, self.events, self.users, self.shadow
        )
        self._rng = torch.Generator().manual_seed(0)

    def shadowed(self) -> ShadowMemory | None:
        """The shadow of the device's pools; none here."""
        return None

    def pool(self, name: str) -> Pool:
        return next(pool for pool in self.device.pools if pool.name == name)

    def scribble(self, pages: Sequence[int]) -> None:
        """New bytes in these device pages of every pool, as if others had stored there."""
        for pool in self.device.pools:
            if pool.name in POOLS:
                for view in pool.layers:
                    words = torch.empty(len(pages), view.pages.shape[1] // 8, dtype=torch.int64)
                    rows = words.random_(generator=self._rng).view(torch.uint8)
                    view.pages[list(pages)] = rows.to(view.pages.device)

    def bytes_of(self, page: int) -> dict[str, Tensor]:
        """A device page as its readers see it: [layer, bytes] of each pool, padding left out."""
        return {
            name: torch.stack([unpadded(v).pages[page] for v in self.pool(name).layers])
            for name in POOLS
        }

    def take(self, pages: int) -> list[HostPage]:
        host = self.host.allocate(pages)
        assert host is not None
        return host

    def back_up(self, device: Sequence[int]) -> list[HostPage]:
        """Device pages to new host pages, acknowledged at once."""
        host = self.take(len(device))
        for stage in self.host.backup(device, host):
            stage.move()
        self.host.settled(device, host)
        return host

    def restore(self, host: Sequence[HostPage], device: Sequence[int]) -> None:
        for stage in self.host.load(host, device):
            stage.move()

    def counted(self, prefix: str) -> dict[str, int]:
        """The counters that start so and are not zero."""
        found = sorted(self.events.counters.items())
        return {name: n for name, n in found if name.startswith(prefix) and n}


def differing(one: dict[str, Tensor], other: dict[str, Tensor]) -> list[str]:
    """The pools whose bytes are not the same."""
    return [name for name in POOLS if not torch.equal(one[name], other[name])]


def round_trip(tiers: Tiers, pages: int = 1) -> list[str]:
    """Back pages 1, 2, ... up, lose them, restore them to others: the pools that differ."""
    tiers.scribble(range(7))
    device = list(range(1, pages + 1))
    before = [tiers.bytes_of(page) for page in device]
    host = tiers.back_up(device)
    tiers.scribble(range(7))
    tiers.restore(host, [6 - i for i in range(pages)])
    lost = [differing(was, tiers.bytes_of(6 - i)) for i, was in enumerate(before)]
    return sorted({name for names in lost for name in names})

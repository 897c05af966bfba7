"""Two tiers under a shadow memory, and steps that write device pages without computing anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.shadow.memory import ShadowMemory
from engine.shadow.tags import RowTags
from tests.engine.pools.mirrored import POOLS, Tiers

GROUPS = [("swa", 0), ("swa", 3), ("c4", 0), ("index_k", 0), ("c128", 0)]


class Shadowed(Tiers):
    """`Tiers` with a shadow memory: device pages 1..6 are taken, steps write chains to them."""

    memory: ShadowMemory
    bumped: list[int]  # pages that changed hands behind the allocator's back

    def owner_of(self, page: int) -> str | None:
        return None

    def generation_of(self, page: int) -> int:
        return int(self.memory.book.generation[page]) + self.bumped.count(page)

    def shadowed(self) -> ShadowMemory:
        pages = self.config.pool_pages
        self.now_us, self.bumped = 0, list[int]()
        pools = self.device.pools
        self.memory = ShadowMemory(pools, pages, self.events, self, lambda: self.now_us)
        self.memory.taken(range(1, pages + 1))
        return self.memory

    def group(self, pool: str, layer: int = 0) -> RowTags:
        return self.memory.groups[pool, layer]

    def host_group(self, pool: str, layer: int = 0) -> RowTags:
        return self.host.shadow.tags.mirrors[pool].host[layer]  # type: ignore[attr-defined]

    def step(self, pages: Sequence[int], name: str = "prefill step 1", heard: bool = True) -> int:
        """A step writes whole pages, a chain of its own in every row; its operation."""
        memory = self.memory
        memory.launched()
        op = memory.begin("prefill", name, memory.compute, lanes=(7,))
        for each in POOLS:
            for layer in range(len(self.pool(each).layers)):
                group = self.group(each, layer)
                for page in pages:
                    slots = group.shape.slots_of(page)
                    group.write(slots, 1000 * op + slots, op, 0, 1)
        memory.book.writes(op, list(pages))
        memory.ended()
        if heard:
            memory.heard()
        return op

    def chains(self, pool: str, page: int, layer: int = 0) -> NDArray[np.int64]:
        """What the rows of a device page hold, int64 [entries]."""
        group = self.group(pool, layer)
        held: NDArray[np.int64] = group.chain[group.shape.rows(group.shape.slots_of(page))]
        return held

    def writer(self, pool: str, page: int, row: int = 0, layer: int = 0) -> str:
        """The sentence that names the last writer of a row of a device page."""
        group = self.group(pool, layer)
        return self.memory.log.said(int(group.op[group.shape.slots_of(page)[row]]))

    def violations(self, name: str) -> list[dict[str, int | str]]:
        return [e.fields for e in self.events.events if e.fields.get("name") == name]

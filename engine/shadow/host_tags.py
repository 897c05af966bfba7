"""The tags of the host's mirrors: what each of their rows holds, and what a copy makes of it.

One rule: tags follow bytes. Of a page row as much crosses as the shorter side has: rows that lie
wholly in there take their tags along, rows cut by its end are nobody's, and the others stay as they
were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.shadow.chains import DAMAGED
from engine.shadow.tags import RowTags, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.pools.host import HostPool
    from engine.shadow.host_watch import Pages
    from engine.shadow.memory import ShadowMemory


class Mirror:
    """The rows of one pool on either side. Pages are int64 [n], one for one."""

    def __init__(self, shadow: ShadowMemory, pool: HostPool) -> None:
        layout, layers = pool.device.layout, range(pool.layout.layers)
        crosses = min(pool.layout.page_bytes, layout.page_bytes)
        self._whole, self._torn = (_rows(rows) for rows in layout.rows_within(crosses))
        self.device = [shadow.groups[pool.name, layer] for layer in layers]
        shapes = [group.shape for group in self.device]
        self.host = [
            RowTags(Shape(shape.pool, shape.layer, pool.rows, shape.entries, shape.ratio))
            for shape in shapes
        ]
        entries, stride = shapes[0].entries, shapes[0].stride or shapes[0].entries
        self.shares = (entries - 1) // stride  # pages on either side that a page shares rows with

    def backup(self, device: Pages, host: Pages, op: int, take: Pages) -> None:
        """Device pages were copied to host pages that are of generations ``take``, every layer."""
        for ours, theirs in zip(self.host, self.device, strict=True):
            self._copy(ours, host, theirs, device, op, take)

    def load(self, layer: int, host: Pages, device: Pages, op: Pages, take: Pages) -> None:
        """One layer of host pages was copied to device pages, each by an operation of its own."""
        self._copy(self.device[layer], device, self.host[layer], host, op, take)

    def damage(self, layer: int, page: int, op: int, take: int) -> bool:
        """A device page was not as its copy was, by its bytes, when ``op`` wrote it last; whether
        its tags did not know, and are those of then.
        """
        group = self.device[layer]
        slots = group.shape.slots_of(page)
        rows = group.shape.rows(slots)
        known = (group.op[rows] != op) | (group.chain[rows] == DAMAGED)
        if known.any():
            return False
        group.damage(slots, op, take)
        return True

    def _copy(
        self, to: RowTags, pages: Pages, source: RowTags, at: Pages, op: Pages | int, take: Pages
    ) -> None:
        entries, whole, torn = to.shape.entries, self._whole, self._torn
        ops = np.broadcast_to(np.asarray(op, dtype=np.int64), pages.shape)
        at, into = _slots(at, whole, entries), _slots(pages, whole, entries)
        to.copy(into, source, at, np.repeat(ops, len(whole)), np.repeat(take, len(whole)))
        cut = _slots(pages, torn, entries)
        to.damage(cut, np.repeat(ops, len(torn)), np.repeat(take, len(torn)))


class HostTags:
    """The mirrors of every pool of one host tier, by name."""

    def __init__(self, shadow: ShadowMemory, pools: Sequence[HostPool]) -> None:
        self.mirrors = {pool.name: Mirror(shadow, pool) for pool in pools}
        self._shares = max(mirror.shares for mirror in self.mirrors.values())
        self._last = len(shadow.book.version) - 1

    def around(self, device: Pages) -> Pages:
        """The device pages whose rows change with those of ``device``, int64 [m]."""
        if not self._shares:
            return device
        near = np.arange(-self._shares, self._shares + 1)
        found: Pages = np.unique((device[:, None] + near).clip(0, self._last))
        return found

    def filled_by(self, pool: str, host: int) -> tuple[int, int]:
        """The operation that wrote a host page of a pool last, and the page's generation then."""
        group = self.mirrors[pool].host[0]
        first = host * group.shape.entries
        return int(group.op[first]), int(group.take[first])

    def last_writers(self, pages: Pages) -> dict[tuple[str, int], tuple[Pages, Pages]]:
        """Who wrote device pages last, in each layer of each pool: operations and lanes."""
        return {
            (pool, layer): _last_writers(group, pages)
            for pool, mirror in self.mirrors.items()
            for layer, group in enumerate(mirror.device)
        }

    def older(self, page: int, pool: str, generation: int) -> int:
        """Rows of a device page of a pool that are not of a generation, in its first layer."""
        group = self.mirrors[pool].device[0]
        rows = group.shape.rows(group.shape.slots_of(page))
        return int((group.take[rows] != generation).sum())


def _rows(rows: Sequence[int]) -> Pages:
    return np.array(rows, dtype=np.int64)


def _last_writers(group: RowTags, pages: Pages) -> tuple[Pages, Pages]:
    rows = group.shape.rows(pages[:, None] * group.shape.entries + np.arange(group.shape.entries))
    last = np.take_along_axis(rows, group.op[rows].argmax(axis=1)[:, None], axis=1)[:, 0]
    return group.op[last], group.lane[last]


def _slots(pages: Pages, rows: Pages, entries: int) -> Pages:
    slots: Pages = (pages[:, None] * entries + rows).ravel()
    return slots

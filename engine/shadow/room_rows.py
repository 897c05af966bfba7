"""Which rows a write over the wire really moved. One rule: bytes say it, not what was meant.

An item is a page of a layer, or a request's ring. Where items are as long here as over there its
rows go one for one; where they are not, whatever row of the decode side the bytes fell on is
nobody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.pools.device import REQUEST_ADDRESSED
from engine.shadow.chains import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engine.disagg.wire import Region, Write
    from engine.pools.device import DevicePools
    from engine.shadow.memory import ShadowMemory
    from engine.shadow.tags import RowTags
    from kernels.layout import PageLayout


class Place(NamedTuple):
    """A region of both sides: whose rows they are, and how long its items are on either."""

    source: RowTags
    target: RowTags
    item_len: int
    layout: PageLayout  # the decode side's

    def alike(self, write: Write) -> bool:
        """Whether the write's items are the items of both sides."""
        lens = {self.item_len, self.layout.page_bytes, write.src_len, write.dst_len}
        return len(lens) == 1


class RoomRows:
    """The rows of both sides behind the ``regions`` of the prefill's; of the slots there are none.

    Rows are physical ones: an item begins where its bytes do, whatever a pool takes for its stride.
    """

    def __init__(
        self, regions: Sequence[Region], src: ShadowMemory, dst: ShadowMemory, pools: DevicePools
    ) -> None:
        layouts = {pool.name: pool.layout for pool in pools.pools}
        self._places = [
            Place(
                src.groups[region.pool, region.layer],
                dst.groups[region.pool, region.layer],
                region.item_len,
                layouts[region.pool],
            )
            if region.pool in layouts
            else None
            for region in regions
        ]
        self._generation = dst.book.generation

    def sources(self, writes: Sequence[Write]) -> list[int]:
        """The prefill's pages that are read."""
        return sorted({page for write in writes if self._paged(write) for page in write.src})

    def targets(self, writes: Sequence[Write]) -> NDArray[np.int64]:
        """The decode side's pages that bytes fall on, int64, in order."""
        alike: set[int] = set()
        for write in writes:
            place = self._paged(write)
            if place is not None:
                hit = write.dst if place.alike(write) else _pages(_under(place, write), place)
                alike.update(hit)
        return np.array(sorted(alike), dtype=np.int64)

    def carry(self, write: Write, op: int) -> None:
        """The bytes of a write are there: operation ``op`` wrote these rows."""
        place = self._places[write.region]
        if place is None:
            return
        if place.alike(write):
            rows = _items(write.dst, place.target)
            held = _items(write.src, place.source)
            self._mark(place.target, rows, place.source.chain[held], op)
            place.target.digest[rows] = place.source.digest[held]
        else:
            self.damage(write, op)

    def damage(self, write: Write, op: int) -> None:
        """Of the bytes of a write nobody knows whether they are there."""
        if (place := self._places[write.region]) is not None:
            self._mark(place.target, _under(place, write), DAMAGED, op)

    def _paged(self, write: Write) -> Place | None:
        place = self._places[write.region]
        return None if place and place.target.shape.pool == REQUEST_ADDRESSED else place

    def _mark(
        self, to: RowTags, rows: NDArray[np.int64], chain: NDArray[np.int64] | int, op: int
    ) -> None:
        """Rows of a page are of its present generation; a request slot has none."""
        to.chain[rows], to.op[rows], to.lane[rows] = chain, op, -1
        paged = to.shape.pool != REQUEST_ADDRESSED
        to.take[rows] = self._generation[rows // to.shape.entries] if paged else 0


def _items(items: Sequence[int], of: RowTags) -> NDArray[np.int64]:
    """The rows of whole items, int64 [items * entries]."""
    entries = of.shape.entries
    first = np.array(items, dtype=np.int64) * entries
    rows: NDArray[np.int64] = (first[:, None] + np.arange(entries)).ravel()
    return rows


def _under(place: Place, write: Write) -> NDArray[np.int64]:
    """The decode side's rows that share a byte with a write's items, int64 [n]."""
    starts = np.sort(np.array(write.dst, dtype=np.int64)) * write.dst_len
    layout, shape = place.layout, place.target.shape
    hit = np.zeros(shape.pages * shape.entries, dtype=bool)
    page, entry = np.divmod(np.arange(len(hit)), shape.entries)
    for plane in layout.planes:
        row = page * layout.page_bytes + layout.offset(plane.name) + entry * plane.row_bytes
        begun = np.searchsorted(starts, row + plane.row_bytes)
        over = np.searchsorted(starts + write.src_len, row, side="right")
        hit |= begun > over
    return np.flatnonzero(hit)


def _pages(rows: NDArray[np.int64], place: Place) -> list[int]:
    pages: list[int] = np.unique(rows // place.target.shape.entries).tolist()
    return pages

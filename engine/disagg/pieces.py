"""What crosses in one post: which items of which region go where, and what they weigh.

One rule: pools go in wire order, c4, index-K, c128 with every chunk, the window and the states once
with the last one, layer after layer of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engine.config import PAGE_TOKENS
from engine.disagg.metadata import AUX
from engine.disagg.wire import Region, Write
from engine.pools.device import REQUEST_ADDRESSED
from engine.pools.layouts import FLASH_LAYERS
from engine.runner.step_cost import WINDOW
from engine.sched.limits import pages_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.disagg.metadata import MetadataBuffers
    from engine.events import EventLog
    from engine.pools.device import DevicePools, Pool
    from kernels.layout import PageLayout

# pools in the order in which a wire carries them (SGLang: get_contiguous_buf_infos)
EVERY_CHUNK = ("c4", "index_k", "c128")
# and those that go once, with the last chunk (get_state_buf_infos, get_request_state_buf_infos)
LAST_CHUNK_PAGED = ("swa", "c4_state", "index_state")
LAST_CHUNK = (*LAST_CHUNK_PAGED, REQUEST_ADDRESSED)

Kind = Literal["kv", "state", "aux"]
Move = tuple[str, "tuple[int, ...]", "tuple[int, ...]"]  # a pool, its items here, and over there


@dataclass(frozen=True)
class Piece:
    """What one post carries. ``chunk`` numbers the room's chunks; it is 0 for state and aux, which
    follow the ``last``.

    ``flash_bytes`` is what it weighs where each pool has as many layers as in DeepSeek-V4-Flash:
    what time is charged for.
    """

    kind: Kind
    chunk: int
    last: bool
    writes: tuple[Write, ...]
    flash_bytes: float


def window_pages(tokens: int) -> range:
    """Which of a prompt's pages hold its last 128 tokens: one or two of them."""
    return range(max(0, tokens - WINDOW) // PAGE_TOKENS, pages_of(tokens))


def regions_of(pools: DevicePools, metadata: MetadataBuffers) -> list[Region]:
    """What a side registers: a region for each layer of each pool, in wire order, then the slots.

    A region is the layer's own bytes (uint8, contiguous), a view: pools are ``layer_first``.
    """
    layers = [
        Region(pool.name, layer, pool.buffer[layer].view(-1), pool.layout.page_bytes)
        for pool in _in_wire_order(pools)
        for layer in range(pool.layout.layers)
    ]
    return [*layers, metadata.region]


def layouts_of(pools: DevicePools) -> list[tuple[str, PageLayout]]:
    """The pools as a peer is told of them, in wire order; the slots are alike everywhere."""
    return [(pool.name, pool.layout) for pool in _in_wire_order(pools)]


def _in_wire_order(pools: DevicePools) -> list[Pool]:
    by_name = {pool.name: pool for pool in pools.pools}
    return [by_name[name] for name in (*EVERY_CHUNK, *LAST_CHUNK)]


class Plan:
    """Makes a room's pieces out of page numbers, for two lists of regions that are parallel.

    ``regions`` are the prefill's, ``peer_lens`` the bytes of an item of each of the decode's pools.
    Counts as ``truncated_pages`` those that only one side named: they go nowhere. Production warns
    of them, and goes on.
    """

    def __init__(
        self, regions: Sequence[Region], peer_lens: Mapping[str, int], events: EventLog
    ) -> None:
        self._events = events
        events.count("truncated_pages", 0)
        self._regions: dict[str, list[int]] = {}
        for number, region in enumerate(regions):
            self._regions.setdefault(region.pool, []).append(number)
        self._lens = {region.pool: region.item_len for region in regions}
        self._pools = [region.pool for region in regions]
        self._peer_lens = {AUX: self._lens[AUX], **peer_lens}

    def kv(
        self, chunk: int, last: bool, src_pages: Sequence[int], dst_pages: Sequence[int]
    ) -> Piece:
        """A chunk's pages of c4, index-K and c128."""
        src, dst = self._even(src_pages, dst_pages)
        return self._piece("kv", chunk, last, [(pool, src, dst) for pool in EVERY_CHUNK])

    def state(
        self, src_pages: Sequence[int], dst_pages: Sequence[int], src_slot: int, dst_slot: int
    ) -> Piece:
        """The pages of the window (``window_pages``) and of its states, and c128's of the request.

        Slots are request slots.
        """
        src, dst = self._even(src_pages, dst_pages)
        paged: list[Move] = [(pool, src, dst) for pool in LAST_CHUNK_PAGED]
        by_request: Move = (REQUEST_ADDRESSED, (src_slot,), (dst_slot,))
        return self._piece("state", 0, True, [*paged, by_request])

    def aux(self, src_index: int, dst_index: int) -> Piece:
        """A metadata slot."""
        return self._piece("aux", 0, True, [(AUX, (src_index,), (dst_index,))])

    def bytes_by_pool(self, piece: Piece) -> dict[str, int]:
        """What a piece really moves of each pool."""
        moved: dict[str, int] = {}
        for write in piece.writes:
            pool = self._pools[write.region]
            moved[pool] = moved.get(pool, 0) + len(write.src) * write.src_len
        return moved

    def _even(
        self, src: Sequence[int], dst: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both lists as long as the shorter one."""
        both = min(len(src), len(dst))
        self._events.count("truncated_pages", len(src) + len(dst) - 2 * both)
        return tuple(src[:both]), tuple(dst[:both])

    def _piece(self, kind: Kind, chunk: int, last: bool, moves: Sequence[Move]) -> Piece:
        writes: list[Write] = []
        flash = 0
        for pool, src, dst in moves:
            numbers, item_len = self._regions[pool], self._lens[pool]
            writes += (Write(n, src, dst, item_len, self._peer_lens[pool]) for n in numbers if src)
            flash += len(src) * item_len * FLASH_LAYERS.get(pool, len(numbers))
        return Piece(kind, chunk, last, tuple(writes), float(flash))

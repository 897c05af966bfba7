"""HiSparse: a request's c4 latents live on the host, and the device keeps the few that it reads.

One rule: an entry is on the host before its place on the device is given away. Entries come by
three ways: a prompt's by `stage`, whole pages and a ragged tail; a decoded one through the newest
page (`take_newest`), copied out a step later (`begin`); a chosen one that the device lost comes
back alone (`read`). So this is where single tokens are copied in earnest: entry counts are never
whole pages. Only the latents; the index keys stay on the device, since the indexer reads them all.

The device's c4 pool stays full-size here, since prefill writes it and the shadows look into it;
production shrinks it to the buffer, which is what HiSparse is for. So only time and copies are
those of HiSparse, not the device memory that it saves.

Source: SGLang's ``HiSparseCoordinator``, ``HiSparseC4DevicePool`` and ``DeepSeekV4PagedHostPool``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import torch

from engine.config import C4_RATIO
from engine.pools.device import Pool, SizedByLayout
from engine.runner.hot_table import ENTRIES, HotTable
from engine.runner.step_cost import C4_LAYERS, c4_entry_bytes
from engine.shadow.hot import HotWatch
from engine.streams import Stage
from kernels.layout import Order
from kernels.ops import Segment

if TYPE_CHECKING:
    from torch import Tensor

    from engine.config import EngineConfig
    from engine.events import EventLog
    from engine.pools.device import DevicePools
    from engine.pools.token_transfer import TokenTransfer
    from engine.request import Request
    from engine.runner.inputs import DecodeInputs
    from engine.streams import Copy, Streams
    from kernels.layout import PageLayout
    from kernels.ops import Ops

HOST_POOL, STREAM = "hisparse_c4", "hisparse_staging"
PAGES, LOADS, TOKENS = "all_layer_mla", "per_layer_mla", "token_granular"  # branches of a copy
ORDER = Order.LAYER_FIRST
# what a step counts on the device, in the order of `HotBuffer.counts`
HITS, SWAP_INS, LOAD_CALLS, BACKUPS, BACKUP_CALLS = range(5)


def path(operation: str, branch: str) -> str:
    """The counter of one way that bytes take, without its prefix."""
    return f"{HOST_POOL}:{operation}:{branch}:{ORDER.value}"


def request_pages(config: EngineConfig) -> int:
    """Pages that hold a request slot's ``hisparse_buffer`` entries and its 64 newest ones."""
    return -(-(config.hisparse_buffer + ENTRIES) // ENTRIES)


def device_pages(config: EngineConfig) -> int:
    """Pages of the device buffer, those of every request slot and of nobody's."""
    return (config.max_running + 1) * request_pages(config)


class Crossed(NamedTuple):
    """Bytes that DeepSeek-V4-Flash would move over the link for single entries, each way."""

    fetched: int
    stored: int


class HotBuffer:
    """One engine's c4 latents for decode. ``device`` and ``host`` are its two pools.

    The host page of a page is the page's own index.
    """

    def __init__(
        self,
        config: EngineConfig,
        pools: DevicePools,
        ops: Ops,
        transfer: TokenTransfer,
        events: EventLog,
    ) -> None:
        self.c4, self.ops, self.transfer, self.events = pools.c4, ops, transfer, events
        rows, device = config.pool_pages + 1, config.device
        layout = self.layout = replace(pools.c4.layout, order=ORDER, layers=1)
        lru = config.hisparse_buffer  # exactly; only the bytes are allocated in whole pages
        self.table = HotTable(config.max_running + 1, lru, rows * ENTRIES, device)
        self._apart = request_pages(config) * ENTRIES  # slots from one request to the next
        self.device = SizedByLayout().allocate("hisparse_hot", layout, device_pages(config), device)
        self.host = _host_pool(layout, rows, pin=device != "cpu")
        self.counts = torch.zeros(5, dtype=torch.int64, device=device)
        self.watch = HotWatch(self.c4, self.device.layers[0], events)
        for name in ("hisparse_hits", "hisparse_swap_ins", "hisparse_backups"):
            events.count(name, 0)
        for operation, branch in (("backup", PAGES), ("load", LOADS)):
            self._count(operation, branch, 0, 0)
            self._count(operation, TOKENS, 0, 0)

    def stage(self, req: Request, streams: Streams) -> Copy:
        """Copy the entries of a prefilled request to the host; it may decode once that is done.

        The device pool still has them all: a copy of an aborted request moves what is there, which
        is the next owner's own.
        """
        self.release(req.req_slot)
        whole, tail = divmod(req.kv_len // C4_RATIO, ENTRIES)
        pages = req.pages[: whole + bool(tail)]
        nbytes = whole * self.layout.page_bytes * C4_LAYERS + tail * c4_entry_bytes()
        return streams.issue(STREAM, [Stage(nbytes, partial(self._offload, pages, tail))])

    def release(self, req_slot: int) -> None:
        """A request slot holds nothing now."""
        self.table.reset(req_slot)

    def begin(self, x: DecodeInputs) -> None:
        """Copy out what the last step completed: one entry a row, once in four steps."""
        request = self._requests(x)
        place = self.table.ring(x.positions // C4_RATIO - 1)[:, None]
        slot = self.table.holds(request, place)[:, 0]
        done = x.live & (x.positions % C4_RATIO == 0) & (x.positions > 0) & (slot >= 0)
        hot = self._hot(request, place)[:, 0]
        self.transfer.copy(self.host.layers[0], self.device.layers[0], slot, hot, done)
        copied = done.sum()
        self.counts[BACKUPS] += copied
        self.counts[BACKUP_CALLS] += copied > 0

    def take_newest(self, x: DecodeInputs) -> None:
        """Keep the entries that this step completed, once they are stored, as the newest."""
        request, live = self._requests(x), x.live & (x.c4_out_loc > 0)
        place, slot = self.table.ring(x.positions // C4_RATIO)[:, None], x.c4_out_loc[:, None]
        self.table.put(request, place, slot, live[:, None])
        hot = self._hot(request, place)[:, 0]
        self.ops.token_copy(self.device.layers[0], self.c4, hot, x.c4_out_loc, live)

    def read(self, chosen: Tensor, x: DecodeInputs) -> Segment:
        """Chosen c4 slots int32 [rows, topk], -1 = none, as slots of the device buffer.

        What is missing is fetched first. A row that is not live reads and fetches nothing.
        """
        live, request = (chosen >= 0) & x.live[:, None], self._requests(x)
        slot = chosen.long().clamp_(min=0)
        place, missing = self.table.claim(request, slot, live)
        hot = self._hot(request, place)
        to, frm = hot.flatten(), slot.flatten()
        self.transfer.copy(self.device.layers[0], self.host.layers[0], to, frm, missing.flatten())
        self.watch.fetched(request, slot, hot, missing)
        fetched = missing.sum()
        self.counts[HITS] += live.sum() - fetched
        self.counts[SWAP_INS] += fetched
        self.counts[LOAD_CALLS] += fetched > 0
        return Segment(self.device.layers[0], torch.where(live, hot, -1).to(torch.int32))

    def poll(self) -> Crossed:
        """``counted`` of what there is now. Waits for the device."""
        return self.counted(self.counts.tolist())

    def counted(self, counts: list[int]) -> Crossed:
        """Bring ``counts``, read back after a step, to the events, and count from 0 again."""
        self.counts.zero_()
        self.events.count("hisparse_hits", counts[HITS])
        self.events.count("hisparse_swap_ins", counts[SWAP_INS])
        self.events.count("hisparse_backups", counts[BACKUPS])
        self._count("load", TOKENS, counts[LOAD_CALLS], counts[SWAP_INS])
        self._count("backup", TOKENS, counts[BACKUP_CALLS], counts[BACKUPS])
        entry_bytes = c4_entry_bytes()
        return Crossed(counts[SWAP_INS] * entry_bytes, counts[BACKUPS] * entry_bytes)

    def _offload(self, pages: list[int], tail: int) -> None:
        """Copy pages of the c4 pool to the host; of the last one ``tail`` entries, unless 0."""
        page = torch.tensor(pages, dtype=torch.int64, device=self.c4.pages.device)
        whole = len(pages) - bool(tail)
        if whole:
            to, frm = self.host.layers[0].pages[:, None], self.c4.pages[:, None]
            self.ops.page_copy(to, frm, page[:whole], page[:whole])
            self._count("backup", PAGES, 1, whole)
        if tail:
            slot = page[-1] * ENTRIES + torch.arange(tail, device=page.device)
            self.transfer.copy(self.host.layers[0], self.c4, slot, slot)
            self._count("backup", TOKENS, 1, tail)

    def _requests(self, x: DecodeInputs) -> Tensor:
        """The table row of each row, int64 [rows]: nobody's for one that is not live."""
        return torch.where(x.live, x.req_slots, 0)

    def _hot(self, request: Tensor, place: Tensor) -> Tensor:
        """Slots of the device buffer, int64 [rows, n]."""
        return request[:, None] * self._apart + place

    def _count(self, operation: str, branch: str, calls: int, rows: int) -> None:
        self.events.count(f"path:{path(operation, branch)}", calls)
        self.events.count(f"path_rows:{path(operation, branch)}", rows)


def _host_pool(layout: PageLayout, rows: int, pin: bool) -> Pool:
    buffer = layout.allocate(rows, pin=pin)
    return Pool(HOST_POOL, layout, buffer, (layout.layer(buffer, 0),))

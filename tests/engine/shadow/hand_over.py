"""Two sides of small pools, the decode's books, and a wire that moves a piece at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from engine.config import EngineConfig
from engine.disagg.mail import TransferInfo
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.pieces import Piece, Plan, regions_of, window_pages
from engine.events import EventLog
from engine.pools.device import DevicePools, Pool, SizedByLayout, allocate
from engine.request import Request
from engine.sched.limits import pages_of
from engine.shadow.pages import PageWatch
from engine.shadow.room_tags import NoTags
from engine.shadow.rooms import RoomWatch
from kernels.ops import Ops

PAGES, SLOTS = 12, 4
CHUNKED = ("c4", "index_k", "c128")
POOLS = (*CHUNKED, "swa", "c4_state", "index_state", "c128_state")


class Books:
    """Who holds which decode page."""

    def __init__(self) -> None:
        self.generations = [0] * (PAGES + 1)
        self.owners: dict[int, str] = {}

    def hand_out(self, pages: Sequence[int], owner: str) -> None:
        for page in pages:
            self.generations[page] += 1
            self.owners[page] = owner

    def free(self, pages: Sequence[int]) -> None:
        for page in pages:
            del self.owners[page]

    def owner_of(self, page: int) -> str | None:
        return self.owners.get(page)

    def generation_of(self, page: int) -> int:
        return self.generations[page]


class HandOver:
    """A prefill and a decode side, and every call that a pair makes of its watch.

    Room n is request 100 + n's.
    """

    def __init__(self, decode_index_k: Literal["fp8", "bf16"] = "fp8") -> None:
        config = EngineConfig(pool_pages=PAGES, max_running=SLOTS)
        self.src: DevicePools = allocate(config, SizedByLayout())
        self.dst: DevicePools = allocate(replace(config, index_k=decode_index_k), SizedByLayout())
        slots = MetadataBuffers(4, "cpu")
        self.regions = [regions_of(side, slots) for side in (self.src, self.dst)]
        self.books, self.events = Books(), EventLog(lambda: 0)
        lens = {region.pool: region.item_len for region in self.regions[1]}
        self.plan = Plan(self.regions[0], lens, self.events)
        self.pages = PageWatch(PAGES, self.events, self.books)
        self.watch = RoomWatch(
            self.src,
            self.dst,
            Ops.reference().page_digest,
            self.events,
            self.books,
            self.pages,
            lambda owner: int(owner.split()[1]) - 100 if owner.startswith("request 1") else 0,
            NoTags(),
        )
        self._rng = torch.Generator().manual_seed(0)
        for pool in self.src.pools:
            pool.buffer.copy_(self._noise(pool.buffer))

    def opened(self, room: int, pages: Sequence[int], slot: int = 1) -> TransferInfo:
        """The decode side gives a room these pages and this request slot."""
        self.books.hand_out(pages, f"request {100 + room}")
        takes = tuple(self.books.generation_of(page) for page in pages)
        return TransferInfo(tuple(pages), takes, aux_index=1, req_slot=slot)

    def kv(self, src: Sequence[int], dst: Sequence[int]) -> Piece:
        return self.plan.kv(0, True, src, dst)

    def state(
        self, src: Sequence[int], info: TransferInfo, tokens: int, src_slot: int = 1
    ) -> Piece:
        window = window_pages(tokens)
        at = [src[p] for p in window], [info.pages[p] for p in window]
        return self.plan.state(*at, src_slot, info.req_slot)

    def land(self, room: int, piece: Piece, info: TransferInfo, tokens: int) -> None:
        """The bytes of a piece move, and the watch is told."""
        for write in piece.writes:
            here, there = (side[write.region].memory for side in self.regions)
            for one, other in zip(write.src, write.dst, strict=True):
                item = here[one * write.src_len :][: write.src_len]
                there[other * write.dst_len :][: write.src_len] = item
        self.watch.landed(room, piece, info, tokens)

    def send(self, room: int, src: Sequence[int], info: TransferInfo, tokens: int) -> None:
        """A whole room, in one chunk: stored, sent and landed."""
        self.watch.stored(room, 0, src)
        window = window_pages(tokens)
        self.watch.stored_state(room, window, [src[p] for p in window], 1)
        dst = info.pages[: pages_of(tokens)]
        self.land(room, self.kv(src, dst), info, tokens)
        self.land(room, self.state(src, info, tokens), info, tokens)

    def decoded(self, room: int, info: TransferInfo, start: int, end: int) -> None:
        """Decode steps of the room's request write positions [start, end)."""
        req = Request(100 + room, [1] * start, 9)
        req.pages, req.takes = list(info.pages), list(info.takes)
        for position in range(start, end):
            self.pages.wrote_row(req, position)

    def pool(self, name: str) -> Pool:
        """A pool of the decode side."""
        return next(pool for pool in self.dst.pools if pool.name == name)

    @property
    def seen(self) -> list[dict[str, int | str]]:
        """The fields of every violation, in order."""
        return [event.fields for event in self.events.events]

    @property
    def harmless(self) -> int:
        return self.events.counters["late_writes_harmless"]

    def _noise(self, like: Tensor) -> Tensor:
        return torch.randint(0, 256, like.shape, dtype=torch.uint8, generator=self._rng)

"""The shadows of both sides of a pair, and a lane between them that a test moves by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from engine.config import EngineConfig
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.pieces import Piece, Plan, regions_of
from engine.disagg.wire import Posted
from engine.events import EventLog
from engine.pools.device import SizedByLayout, allocate
from engine.shadow.memory import Common, ShadowMemory
from engine.shadow.room_edges import RoomEdges
from engine.shadow.room_rows import RoomRows
from engine.shadow.room_tags import RoomTags
from tests.engine.shadow.hand_over import PAGES, SLOTS, Books


class TwoSides:
    """Rooms go over ``queues`` queues. ``now_us`` is the time, and items are as long as the
    sender's, whatever lies over there.
    """

    def __init__(self, decode_index_k: Literal["fp8", "bf16"] = "fp8", queues: int = 2) -> None:
        config = EngineConfig(pool_pages=PAGES, max_running=SLOTS)
        src = allocate(config, SizedByLayout())
        dst = allocate(replace(config, index_k=decode_index_k), SizedByLayout())
        self.now_us, self.events, common = 0, EventLog(lambda: 0), Common()
        self.prefill, self.decode = (
            ShadowMemory(pools.pools, PAGES, self.events, Books(), self._now, common, side)
            for pools, side in ((src, "prefill"), (dst, "decode"))
        )
        regions = regions_of(src, MetadataBuffers(4))
        lens = {region.pool: region.item_len for region in regions}
        self.plan = Plan(regions, lens, self.events)
        self.edges = RoomEdges(self.prefill, self.decode, queues)
        self.rows = RoomRows(regions, self.prefill, self.decode, dst)
        self.tags = RoomTags(self.prefill, self.decode, self.rows, self.edges, regions)

    def kv(self, src: Sequence[int], dst: Sequence[int]) -> Piece:
        """A prompt's only chunk."""
        return self.plan.kv(0, True, src, dst)

    def computed(self, page: int, chain: int) -> None:
        """The prefill has computed a page: all its rows are of one chain. Its host has heard."""
        op = self.prefill.begin("prefill", "prefill step 1", self.prefill.compute, 1)
        self.prefill.book.writes(op, [page])
        self.prefill.ended()
        self.prefill.heard()
        for group in self.prefill.groups.values():
            if group.shape.pool != "c128_state":
                group.write(group.shape.slots_of(page), chain, op, 0, 1)

    def told(self) -> None:
        """The prefill's host reads a letter that the decode's has just written."""
        clocks = self.decode.clocks
        clocks.join(self.prefill.host, clocks.now(self.decode.host))

    def post(self, room: int, piece: Piece, note: str = "") -> Posted:
        """A job of one piece is queued and posted."""
        job = object()
        self.edges.opened(room)
        self.edges.queued(job)
        self.edges.turn(room, job)
        posted = Posted(room, piece.writes, note, due_s=0.0)
        self.tags.posted(posted)
        return posted

    def land(self, posted: Posted) -> None:
        """A post moves its bytes and ends."""
        self.tags.landed(posted)
        self.tags.ended(posted)

    def chains(self, pool: str, page: int) -> list[int]:
        """What the rows of a decode page hold, each once, in order."""
        group = self.decode.groups[pool, 0]
        held: list[int] = np.unique(group.chain[group.shape.slots_of(page)]).tolist()
        return held

    @property
    def seen(self) -> list[dict[str, int | str]]:
        """The fields of every violation, in order."""
        return [event.fields for event in self.events.events]

    def _now(self) -> int:
        return self.now_us

"""What joins one prefill rank and one decode rank. One rule: the only things that both sides touch.

A lane is a wire, a mailbox each way, metadata slots on both sides, and the ledger of its rooms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import clock
from engine.disagg.mail import Mailbox
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.pieces import Plan, layouts_of, regions_of
from engine.disagg.records import RoomRecord
from engine.disagg.wires import open_wire
from engine.runner import step_cost
from engine.shadow.room_edges import NoEdges, RoomEdges
from engine.shadow.room_rows import RoomRows
from engine.shadow.room_tags import NoTags, RoomTags
from engine.shadow.rooms import RoomWatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import EngineConfig
    from engine.disagg.mail import TransferInfo
    from engine.disagg.pieces import Piece
    from engine.disagg.questions import PeerLayout
    from engine.disagg.rooms import Room
    from engine.disagg.wire import Region, Side
    from engine.engine import Engine
    from engine.pools.device import DevicePools
    from engine.shadow.memory import Common, ShadowMemory
    from engine.shadow.room_edges import Edges
    from engine.shadow.room_tags import Tags
    from kernels.ops import PageDigest


class Lane:
    """Rank ``rank`` of both sides, connected: memory registered, layouts compared.

    ``plan`` and ``watch`` are there from ``connect`` on: both sides' memory is needed for them.
    ``edges`` and ``tags`` are the shadow's, where somebody looks.
    Raises ``ConfigError`` where the sides' layouts differ, or the wire cannot be had.
    """

    def __init__(self, config: EngineConfig, rank: int, common: Common) -> None:
        hw = step_cost.preset(config.hardware)
        self.rank, self.common = rank, common
        self.wire = open_wire(config.wire)
        self.to_prefill = Mailbox(hw.control_latency_s)
        self.to_decode = Mailbox(hw.control_latency_s)
        slots = config.metadata_slots or 2 * config.max_running
        self.prefill_slots = MetadataBuffers(config.max_running, config.device)
        self.decode_slots = MetadataBuffers(slots, config.device)
        self.edges: Edges = NoEdges()
        self.tags: Tags = NoTags()
        self._queues = config.queue_size
        self.records: dict[int, RoomRecord] = {}
        self._open: dict[tuple[Side, int], Room] = {}

    def connect(
        self, prefill: Engine, decode: Engine, peer: PeerLayout, digest: PageDigest
    ) -> None:
        """Register both sides' memory (production: room "None", ``KVArgsRegisterInfo``)."""
        src, dst = prefill.runner.pools, decode.runner.pools
        own = layouts_of(src)
        lens = peer.item_lens(own, layouts_of(dst))
        regions = regions_of(src, self.prefill_slots)
        self.to_decode.wake = decode.wake
        self.wire.register("prefill", regions)
        self.wire.register("decode", regions_of(dst, self.decode_slots))
        names = (name for name, _ in own)
        self.plan = Plan(regions, dict(zip(names, lens, strict=True)), prefill.events)
        self._shadow(regions, prefill.shadow, decode.shadow, dst)
        events, owners, rows = decode.events, decode.scheduler, decode.runner.watch
        self.watch = RoomWatch(src, dst, digest, events, owners, rows, room_of, self.tags)

    def _shadow(
        self,
        regions: Sequence[Region],
        src: ShadowMemory | None,
        dst: ShadowMemory | None,
        pools: DevicePools,
    ) -> None:
        """Let the shadows of both sides hear of the wire and of the mail, if they look."""
        if src is None or dst is None:
            return
        edges, rows = RoomEdges(src, dst, self._queues), RoomRows(regions, src, dst, pools)
        edges.join(self.to_prefill, self.to_decode)
        self.edges = edges
        self.tags = self.wire.watch = RoomTags(src, dst, rows, edges, regions)

    def opened(self, side: Side, room: Room) -> None:
        """A side has opened a room: whichever is first begins its record."""
        new = RoomRecord(room.id, room.req.id, self.rank, len(room.req.prompt))
        self.records.setdefault(room.id, new)
        self._open[side, room.id] = room
        if side == "decode":
            self.edges.opened(room.id)

    def closed(self, side: Side, room: Room) -> None:
        """A side has done with a room: what it knows of it is kept, and nothing else."""
        self._note(side, self._open.pop((side, room.id)))
        if side == "decode":
            self.edges.closed(room.id)

    def arrived(self, room: int, piece: Piece, info: TransferInfo) -> None:
        """A piece of a room has moved its bytes: the decode side must look."""
        record, moved = self.records[room], self.plan.bytes_by_pool(piece)
        record.count(moved, piece.flash_bytes, piece.kind == "kv")
        record.drained_s = clock.now()
        self.watch.landed(room, piece, info, record.prompt)
        if self.to_decode.wake is not None:
            self.to_decode.wake()

    def released(self, room: int) -> None:
        """The decode side has given the pages of a failed room back."""
        self.records[room].released_s = clock.now()

    def closed_records(self) -> list[RoomRecord]:
        """Every room's record, in the order of opening, with what both sides know of it by now."""
        for (side, _), room in self._open.items():
            self._note(side, room)
        return list(self.records.values())

    def _note(self, side: Side, room: Room) -> None:
        record = self.records[room.id]
        entered = {state.title: at for state, at in room.entered.items()}
        if side == "prefill":
            record.prefill = entered
        else:
            record.decode, record.why = entered, room.why
            record.outcome = room.state.title if room.ended else "open"

    def close(self) -> None:
        """Give back what was registered."""
        self.wire.close()


def room_of(owner: str) -> int:
    """The room that an owner's pages came by: rooms have their requests' numbers; 0 for others."""
    kind, _, number = owner.partition(" ")
    return int(number) if kind == "request" else 0

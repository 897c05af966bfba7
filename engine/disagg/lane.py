"""What joins one prefill rank and one decode rank. One rule: the only things that both sides touch.

A lane is a wire, a mailbox each way, metadata slots on both sides, and the ledger of its rooms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.disagg.mail import Mailbox
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.pieces import Plan, layouts_of, regions_of
from engine.disagg.records import RoomRecord
from engine.disagg.wires import open_wire
from engine.runner import step_cost
from engine.shadow.rooms import RoomWatch

if TYPE_CHECKING:
    from engine.config import EngineConfig
    from engine.disagg.questions import PeerLayout
    from engine.disagg.rooms import Room
    from engine.disagg.wire import Side
    from engine.engine import Engine
    from engine.request import Request
    from kernels.ops import PageDigest


class Lane:
    """Rank ``rank`` of both sides, connected: memory registered, layouts compared.

    Raises ``ConfigError`` where the sides' layouts differ, or the wire cannot be had.
    """

    def __init__(self, config: EngineConfig, rank: int) -> None:
        hw = step_cost.preset(config.hardware)
        self.rank = rank
        self.wire = open_wire(config.wire)
        self.to_prefill = Mailbox(hw.control_latency_s)
        self.to_decode = Mailbox(hw.control_latency_s)
        slots = config.metadata_slots or 2 * config.max_running
        self.prefill_slots = MetadataBuffers(config.max_running, config.device)
        self.decode_slots = MetadataBuffers(slots, config.device)
        self.records: dict[int, RoomRecord] = {}
        self._rooms: dict[tuple[Side, int], Room] = {}

    def connect(
        self, prefill: Engine, decode: Engine, peer: PeerLayout, digest: PageDigest
    ) -> None:
        """Register both sides' memory (production: room "None", ``KVArgsRegisterInfo``)."""
        src, dst = prefill.runner.pools, decode.runner.pools
        own = layouts_of(src)
        lens = peer.item_lens(own, layouts_of(dst))
        regions = regions_of(src, self.prefill_slots)
        self.wake_decode = self.to_decode.wake = decode.wake
        self.wire.register("prefill", regions)
        self.wire.register("decode", regions_of(dst, self.decode_slots))
        names = (name for name, _ in own)
        self.plan = Plan(regions, dict(zip(names, lens, strict=True)), prefill.events)
        self.watch = RoomWatch(
            src, dst, digest, decode.events, decode.scheduler, decode.runner.watch, room_of
        )

    def record(self, req: Request) -> RoomRecord:
        """The record of a request's room, begun by whichever side asks first."""
        if req.id not in self.records:
            self.records[req.id] = RoomRecord(req.id, req.id, self.rank, len(req.prompt))
        return self.records[req.id]

    def opened(self, side: Side, room: Room) -> None:
        """A side has opened a room: its record follows it from here on."""
        self.record(room.req)
        self._rooms[side, room.id] = room

    def closed_records(self) -> list[RoomRecord]:
        """Every room's record, in the order of opening, with what both sides know of it by now."""
        for (side, number), room in self._rooms.items():
            record = self.records[number]
            entered = {state.title: at for state, at in room.entered.items()}
            if side == "prefill":
                record.prefill = entered
            else:
                record.decode, record.why = entered, room.why
                record.outcome = room.state.title if room.ended else "open"
        return list(self.records.values())

    def close(self) -> None:
        """Give back what was registered."""
        self.wire.close()


def room_of(owner: str) -> int:
    """The room that an owner's pages came by: rooms have their requests' numbers; 0 for others."""
    kind, _, number = owner.partition(" ")
    return int(number) if kind == "request" else 0

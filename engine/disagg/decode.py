"""The decode side: it takes pages for a room, tells the prefill of them, and waits for the bytes.

One rule: a room's pages and its metadata slot are given back when it is a row's, or when no write
of it is left; what says that none is left is the writer, its own deadline, or the room's fence.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from engine import clock
from engine.disagg.mail import Message, Tag, TransferInfo
from engine.disagg.questions import Arrival
from engine.disagg.rank import Open, Rank
from engine.disagg.reception import Notes, Reception
from engine.disagg.rooms import KVPoll, Room
from engine.errors import RoomFailed
from engine.role import News

if TYPE_CHECKING:
    from engine.config import EngineConfig
    from engine.disagg.lane import Lane
    from engine.disagg.questions import RoomQuestions
    from engine.disagg.ranks import Collective
    from engine.disagg.watchdog import Watchdog
    from engine.disagg.wire import Side
    from engine.request import Request

ABORTED = "aborted by the client"
DEFERRED_S = 30.0  # SGLANG_DISAGGREGATION_DEFERRED_DECODE_KV_RELEASE_TIMEOUT


@dataclass(eq=False)
class Incoming(Open):
    """A room on the decode side. ``info`` and ``reception`` come with its pages."""

    info: TransferInfo | None = None
    reception: Reception | None = None
    acknowledged: bool = False  # the prefill says that no write of the room is left
    give_up_s: float = 0.0  # when a deferred release waits no longer
    late: bool = False  # it fails of its own deadline


class DecodeRole(Rank[Incoming]):
    """Prealloc queue, transfer queue, and the way to the rows. No prompt is computed here."""

    name: Side = "decode"
    awaits: ClassVar = {
        KVPoll.BOOTSTRAPPING: "pages and a metadata slot",
        KVPoll.WAITING_FOR_INPUT: "bytes",
        KVPoll.FAILED: "the prefill side's word that its last write has ended",
    }
    staging = None

    def __init__(
        self,
        config: EngineConfig,
        lane: Lane,
        ranks: Collective,
        ask: RoomQuestions,
        watchdog: Watchdog,
    ) -> None:
        super().__init__(lane, ranks, ask, watchdog)
        self.config = config
        self.transfers = self
        self._prealloc: deque[Incoming] = deque()
        self._notes = Notes(lane.wire)

    def computed(self, batch: object, tokens: object) -> None:
        """A prompt computed here (a row that was retracted) is nobody else's."""

    def give_up(self, why: str) -> None:
        """Fail every room: nothing more will come."""
        for each in self.open.values():
            each.flag, each.acknowledged = each.flag or why, True
        self.engine.wake()

    def _open_room(self, req: Request) -> None:
        self.watchdog.arriving()
        each = self.open[req.id] = Incoming(Room(req.id, req))
        each.room.open(clock.now())
        self.lane.opened(self.name, each.room)
        self.events.count("rooms")
        self._prealloc.append(each)

    def _abort(self, req: Request) -> None:
        each = self.open.get(req.id)
        if each is None:
            if not req.done:
                self.scheduler.abort(req)
                self._news.append(News(req))
        elif not (each.flag or each.failing):
            self.events.count("room_aborts")
            self.events.count("aborts_in_flight", each.info is not None)
            each.flag = ABORTED

    def _look(self) -> None:
        # before the mail, which ranks do not hear at one moment: all take for the same rooms
        self._preallocate()
        for message in self.lane.to_decode.take():
            each = self.open.get(message.room)
            if each is None:
                continue
            if message.tag is Tag.DRAINED:
                each.acknowledged = True
                self.lane.record(each.req).drained_s = clock.now()
            else:
                each.flag = each.flag or message.why

    def _preallocate(self) -> None:
        """Pages and a metadata slot for whoever waits, first come, first served."""
        while self._prealloc and self.lane.decode_slots.available:
            each = self._prealloc[0]
            if each.flag or not self.scheduler.reserve(each.req):
                return  # a flagged one leaves when all ranks have seen the flag
            self._prealloc.popleft()
            self._tell_prefill(each)

    def _tell_prefill(self, each: Incoming) -> None:
        slot, req = self.lane.decode_slots.take(), each.req
        assert slot is not None
        self.ask.take.take(self.lane.decode_slots, slot)
        each.info = TransferInfo(tuple(req.pages), tuple(req.takes), slot, req.req_slot)
        deadline_s = clock.now() + self.config.waiting_timeout
        each.reception = Reception(self._notes, each.room.id, deadline_s)
        self._move(each, KVPoll.WAITING_FOR_INPUT)
        self.lane.to_prefill.send(Message(Tag.GUARD, each.room.id, each.info))

    def _stand(self, each: Incoming) -> tuple[int, int]:
        if each.failing:
            return KVPoll.FAILED, each.acknowledged or clock.now() >= each.give_up_s
        if each.flag:
            return KVPoll.FAILED, False
        return self._poll(each) if each.reception else KVPoll.BOOTSTRAPPING, False

    def _poll(self, each: Incoming) -> KVPoll:
        """How a room in the transfer queue stands; says why, where it fails."""
        assert each.reception is not None and each.info is not None
        reception = each.reception
        state = self.ask.poll.state(reception)
        if state is KVPoll.SUCCESS:
            tag = self.lane.decode_slots.read(each.info.aux_index).room
            arrival = self.ask.check.arrival(tag, each.room.id)
            if arrival is Arrival.MINE:
                return state
            if arrival is Arrival.FOREIGN:
                each.flag = f"metadata corruption detected: the slot holds bootstrap_room {tag}"
                return KVPoll.FAILED
            self.events.count("metadata_waits")
            state = KVPoll.FAILED if reception.expired else KVPoll.WAITING_FOR_INPUT
        if state is KVPoll.FAILED:
            each.late = True
            each.flag = f"timed out in {each.room.state.title}"
        return state

    def _act(self, each: Incoming, poll: KVPoll, drained: bool) -> None:
        if each.failing:
            if drained:
                self._let_go(each)
        elif poll is KVPoll.FAILED:
            self._fail(each)
        elif poll is KVPoll.SUCCESS:
            self._commit(each)

    def _commit(self, each: Incoming) -> None:
        """The request becomes a row: its first token came with its metadata."""
        assert each.info is not None
        req, row = each.req, self.lane.decode_slots.read(each.info.aux_index)
        if row.room != each.room.id:
            self.events.violation(
                "first_token_of_another_room", room=each.room.id, tag=row.room, token=row.token
            )
        self.lane.watch.committed(each.room.id, each.info, len(req.prompt))
        self._close(each)
        self._move(each, KVPoll.SUCCESS)
        self.events.count("rooms_succeeded")
        req.cached_tokens, req.host_tokens = row.cached, row.host
        self.engine.runner.table.next_token[req.req_slot] = row.token
        self.scheduler.commit(req, row.token)
        self._news.append(News(req))

    def _fail(self, each: Incoming) -> None:
        """End the request; its pages go now, or once nothing is written to them any more."""
        each.failing = True
        if each in self._prealloc:
            self._prealloc.remove(each)
        self._evidence(each)
        why = each.flag or "failed on another rank"
        stood, seconds = each.room.state.title, clock.now() - each.room.since
        each.room.fail(why, clock.now(), self.events)
        self.events.count("rooms_failed")
        self.lane.to_prefill.send(Message(Tag.ABORT, each.room.id, why=why))
        told = RoomFailed(each.room.id, stood, seconds, why) if each.flag != ABORTED else None
        if each.info is None:
            self._close(each)
            self.scheduler.drop(each.req)
        elif self.config.deferred_release:
            self.events.count("deferred_room_releases")
            each.give_up_s = clock.now() + DEFERRED_S
            self.scheduler.abort(each.req)
            if each.acknowledged:
                self.engine.wake()  # nothing else would: the word came with the failure
        else:
            self.scheduler.abort(each.req)
            self._let_go(each)
        self._news.append(News(each.req, told))

    def _evidence(self, each: Incoming) -> None:
        """What the ledger knows of a failure that the poll did not look at."""
        reception, room = each.reception, each.room.id
        if reception is None:
            return
        if each.late:
            self.events.count("waiting_timeouts")
            reception.drain()
            if reception.complete and reception.aux:
                self.events.fault("room_failed_though_complete", room=room)
        elif each.flag.startswith("metadata") and not reception.aux:
            self.events.fault("metadata_false_alarm", room=room)

    def _let_go(self, each: Incoming) -> None:
        """Give the pages of a failed room back."""
        if not each.acknowledged:
            self.ask.fence.close(self.lane.wire, each.room.id)
        self.lane.record(each.req).released_s = clock.now()
        self._close(each)
        self.scheduler.settle()

    def _close(self, each: Incoming) -> None:
        each.drained = True
        del self.open[each.room.id]
        if each.reception is not None:
            each.reception.close()
        if each.info is not None:
            self.lane.decode_slots.give(each.info.aux_index)
        if self._prealloc:
            self.engine.wake()  # this turn has asked for them already: the slot and the pages

    def _deadline_s(self, each: Incoming) -> float | None:
        if each.failing:
            return each.give_up_s
        return each.reception.deadline_s if each.reception else None

"""The decode side: it takes pages for a room, tells the prefill of them, and waits for the bytes.

One rule: a room's pages and its metadata slot are given back when it is a row's, or when no write
of it is left; what says that none is left is the writer, its own deadline, or the room's fence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from engine import clock
from engine.disagg.mail import Message, Tag, TransferInfo
from engine.disagg.questions import Arrival
from engine.disagg.rank import Open, Rank, Stand
from engine.disagg.reception import Notes, Reception
from engine.disagg.rooms import Cause, KVPoll, Room
from engine.errors import RoomFailed
from engine.role import News
from engine.shadow.room_tags import wire_write

if TYPE_CHECKING:
    from engine.config import EngineConfig
    from engine.disagg.heartbeat import Heartbeat
    from engine.disagg.lane import Lane
    from engine.disagg.questions import RoomQuestions
    from engine.disagg.ranks import Collective
    from engine.disagg.watchdog import Watchdog
    from engine.disagg.wire import Side
    from engine.events import Field
    from engine.request import Request

DEFERRED_S = 30.0  # SGLANG_DISAGGREGATION_DEFERRED_DECODE_KV_RELEASE_TIMEOUT


@dataclass(eq=False)
class Incoming(Open):
    """A room on the decode side. ``info`` and ``reception`` come with its pages."""

    info: TransferInfo | None = None
    reception: Reception | None = None
    acknowledged: bool = False  # the prefill says that no write of the room is left
    give_up_s: float = 0.0  # when a deferred release waits no longer
    whole: bool = False  # at its deadline, everything had arrived
    tag: int = 0  # the foreign room that its metadata slot held


class DecodeRole(Rank[Incoming]):
    """Prealloc queue, transfer queue, and the way to the rows. No prompt is computed here.

    ``heart`` asks whether the prefill side still lives, from a room's opening on.
    """

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
        heart: Heartbeat,
    ) -> None:
        super().__init__(lane, ranks, ask, watchdog)
        self.config, self._heart = config, heart
        self.transfers = self
        self._notes = Notes(
            lane.wire,
            heard=lambda note: lane.edges.heard(note),  # the edges come with the other side
            lost=lambda note: lane.edges.lost(note),
        )
        self._alone = False  # the prefill side is dead

    def computed(self, batch: object, tokens: object) -> None:
        """No prompt is computed here."""

    def give_up(self) -> None:
        """Fail every room, now and later: nobody is there to compute for it. What was posted may
        still land.
        """
        self._alone = True
        self.engine.wake()

    def _open_room(self, req: Request) -> None:
        self._enqueue(Incoming(Room(req.id, req)))
        self.events.count("rooms")
        self._heart.start()

    def _abort(self, req: Request) -> None:
        each = self.open.get(req.id)
        if each is None:
            if not req.done:
                self.scheduler.abort(req)
                self._news.append(News(req))
        elif each.cause is Cause.NONE and not each.failing:
            self.events.count("room_aborts")
            self.events.count("aborts_in_flight", each.info is not None)
            self._flag(each, Cause.ABORTED)

    def _look(self) -> None:
        # before the mail, which ranks do not hear at one moment: all take for the same rooms
        self._preallocate()
        self._notes.drain()
        for message in self.lane.to_decode.take():
            each = self.open.get(message.room)
            if each is None:
                continue
            if message.tag is Tag.DRAINED:
                each.acknowledged = True
            else:
                self._flag(each, message.cause, message.why)
        if self._alone:
            for each in self.open.values():
                self._flag(each, Cause.LOST)
                each.give_up_s = min(each.give_up_s, clock.now())

    def _preallocate(self) -> None:
        """Pages and a metadata slot for whoever waits, first come, first served."""
        while self.queued and self.lane.decode_slots.available:
            each = next(iter(self.queued.values()))
            if each.cause is not Cause.NONE or not self.scheduler.reserve(each.req):
                return  # a flagged one leaves when all ranks have seen the flag
            self._poll_from_now_on(each)
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

    def _stand(self, each: Incoming) -> Stand:
        if each.failing:
            return Stand(KVPoll.FAILED, each.acknowledged or clock.now() >= each.give_up_s)
        poll = self._poll(each) if each.cause is Cause.NONE else KVPoll.FAILED
        return Stand(poll, False, each.cause)

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
                each.tag = tag
                held = f"{Cause.FOREIGN.words}: the slot holds bootstrap_room {tag}"
                self._flag(each, Cause.FOREIGN, held)
                return KVPoll.FAILED
            self.events.count("metadata_waits")
            state = KVPoll.FAILED if reception.expired else KVPoll.WAITING_FOR_INPUT
        if state is KVPoll.FAILED:
            self._flag(each, Cause.LATE)
            reception.drain()
            each.whole = reception.complete and reception.aux
        return state

    def _act(self, each: Incoming, stand: Stand) -> None:
        if each.failing:
            if stand.drained:
                self._let_go(each)
        elif stand.poll == KVPoll.FAILED:
            self._fail(each, Cause(stand.cause))
        elif stand.poll == KVPoll.SUCCESS:
            self._commit(each)

    def _commit(self, each: Incoming) -> None:
        """The request becomes a row: its first token came with its metadata."""
        assert each.info is not None
        req, row = each.req, self.lane.decode_slots.read(each.info.aux_index)
        if row.room != each.room.id:
            self.events.violation(
                "first_token_of_another_room",
                n=1,
                room=each.room.id,
                tag=row.room,
                token=row.token,
                **self._slot_of(each, row.room),
            )
        self.lane.watch.committed(each.room.id, each.info, len(req.prompt))
        self._move(each, KVPoll.SUCCESS)
        self._close(each)
        self.events.count("rooms_succeeded")
        req.cached_tokens, req.host_tokens = row.cached, row.host
        self.engine.runner.starts_with(req.req_slot, row.token)
        self.scheduler.commit(req, row.token)
        self._news.append(News(req))

    def _fail(self, each: Incoming, cause: Cause) -> None:
        """End the request; its pages go now, or once nothing is written to them any more."""
        each.failing = True
        self._evidence(each, cause)
        why = self._told(each, cause)
        stood, seconds = each.room.state.title, clock.now() - each.room.since
        each.room.fail(why, clock.now(), self.events)
        self.events.count("rooms_failed")
        self.lane.to_prefill.send(Message(Tag.ABORT, each.room.id, why=why, cause=cause))
        self._end(each, cause)
        told = RoomFailed(each.room.id, stood, seconds, why)
        self._news.append(News(each.req, None if cause is Cause.ABORTED else told))

    def _end(self, each: Incoming, cause: Cause) -> None:
        if each.info is None:
            self._close(each)
            self.scheduler.drop(each.req)
            return
        self.scheduler.abort(each.req)
        if not self.config.deferred_release or cause is Cause.LOST:
            self._let_go(each)
            return
        self.events.count("deferred_room_releases")
        self.lane.tags.withheld(each.info.pages)
        each.give_up_s = clock.now() + DEFERRED_S
        if each.acknowledged:
            self.engine.wake()  # nothing else would: the word came with the failure

    def _evidence(self, each: Incoming, cause: Cause) -> None:
        """What the ledger knows of a failure, and the poll did not look at; all of it is as of that
        poll. Timeouts are counted by what the ranks agreed on, whoever of them was late.
        """
        if cause is Cause.LATE:
            self.events.count("waiting_timeouts")
        if each.cause is Cause.LATE and each.whole:
            self.events.fault("room_failed_though_complete", room=each.room.id)
        elif each.cause is Cause.FOREIGN and each.reception and not each.reception.aux:
            known = self._slot_of(each, each.tag)
            self.events.fault("metadata_false_alarm", n=1, room=each.room.id, **known)

    def _slot_of(self, each: Incoming, tag: int) -> dict[str, Field]:
        """A metadata slot that says another room, who wrote it, and what was not waited for."""
        assert each.info is not None
        slot = each.info.aux_index
        edge = f"room {each.room.id} did not wait for its own write of metadata slot {slot}"
        writer = wire_write(tag) | self.lane.tags.slot_writer(slot)
        return writer | {"slot": slot, "edge": edge}

    def _let_go(self, each: Incoming) -> None:
        """Give the pages of a failed room back."""
        if not each.acknowledged:
            self.ask.fence.close(self.lane.wire, each.room.id)
        self.lane.released(each.room.id)
        self._close(each)
        self.scheduler.settle()

    def _close(self, each: Incoming) -> None:
        self._forget(each)
        if each.reception is not None:
            each.reception.close()
        if each.info is not None:
            self.lane.decode_slots.give(each.info.aux_index)
        if self.queued:
            self.engine.wake()  # this turn has asked for them already: the slot and the pages

    def _deadline_s(self, each: Incoming) -> float | None:
        if each.failing:
            return each.give_up_s
        return each.reception.deadline_s if each.reception else None

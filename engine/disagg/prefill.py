"""The prefill side: it waits to be told a room's pages, computes the prompt and writes it there.

One rule: a prompt's pages are held until the last write out of them has ended, whatever became of
the room. A request here asks for one token: what it samples travels in the metadata.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar

from engine import clock
from engine.disagg.mail import Message, Tag, TransferInfo
from engine.disagg.pieces import window_pages
from engine.disagg.rank import Open, Rank, Stand
from engine.disagg.rooms import Cause, KVPoll, Room
from engine.disagg.wire import PostState
from engine.disagg.workers import Job, Workers
from engine.sched.limits import pages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import EngineConfig
    from engine.disagg.lane import Lane
    from engine.disagg.pieces import Piece
    from engine.disagg.questions import RoomQuestions
    from engine.disagg.ranks import Collective
    from engine.disagg.watchdog import Watchdog
    from engine.disagg.wire import Side
    from engine.engine import Engine
    from engine.request import Request
    from engine.sched.batch import Chunk, PrefillBatch

Told = dict[int, TransferInfo]


@dataclass(eq=False)
class Outgoing(Open):
    """A room on the prefill side. ``sent`` counts its pages queued so far, ``chunks`` its jobs."""

    chunks: int = 0
    sent: int = 0
    slot: int = 0  # of metadata, once the first token is known
    done: bool = False  # the last chunk and what goes with it have arrived
    by_decode: bool = False  # the decode side gave it up


class NeverDecodes:
    """The staging of an engine that decodes nothing: a computed prompt waits, and becomes no row
    (under overlap the next step is composed before its first token is looked at)."""

    def stage(self, req: Request) -> None:
        """Nothing is copied."""

    def ready(self, req: Request) -> bool:
        return False


class PrefillRole(Rank[Outgoing]):
    """Bootstrap queue, waiting queue (the scheduler's), and the rooms whose bytes are on the way.

    ``told`` is what the decode side said of rooms; the bootstrap loop fills it in. That side names
    pages first come, first served: of the queue it has told the front, given up rooms aside.
    ``workers`` is there from ``attach`` on.
    """

    name: Side = "prefill"
    awaits: ClassVar = {
        KVPoll.BOOTSTRAPPING: "the decode side to name its pages",
        KVPoll.WAITING_FOR_INPUT: "its prompt to be computed",
        KVPoll.TRANSFERRING: "the wire",
        KVPoll.FAILED: "its last write to end",
    }

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
        self.transfers, self.staging = self, NeverDecodes()
        self.told: Told = {}
        self._given_up: dict[int, Message] = {}  # rooms aborted before they were opened
        self._newest = 0
        self._bootstrap: asyncio.Task[None] | None = None
        self.dead_loop = ""  # what became of the bootstrap loop, if it is no more

    def attach(self, engine: Engine) -> None:
        """The engine is built."""
        super().attach(engine)
        self.workers = Workers(
            self.lane.wire,
            self.config,
            self.rank,
            self._arrived,
            self._ended,
            lambda room: room not in self.open or self.open[room].failing,
            self.events,
        )
        self.workers.on_turn = lambda job: self.lane.edges.turn(job.room, job)
        self.workers.on_death = engine.die

    def start(self) -> None:
        """Start the bootstrap loop and the transfer workers, on the running loop."""
        self.workers.start()
        self._bootstrap = asyncio.create_task(self._serve_mail(), name=f"bootstrap {self.rank}")

    def stop(self) -> None:
        """Send nothing any more, hear nothing any more."""
        if self._bootstrap is not None:
            self._bootstrap.cancel()
        self.workers.stop()

    def computed(self, batch: PrefillBatch, tokens: Sequence[int]) -> None:
        """Send the pages of every chunk of a step that has run; with the last one the rest."""
        first = dict(zip((req.id for req in batch.sampled), tokens, strict=True))
        for chunk in batch.chunks:
            each = self.open.get(chunk.req.id)
            if each is not None and not each.failing and not chunk.req.done:
                self._send(each, chunk, first.get(chunk.req.id))

    async def _serve_mail(self) -> None:
        """The bootstrap thread: what the decode side says, one message after the other."""
        try:
            while True:
                self._hear(self.ask.message.read(await self.lane.to_prefill.receive()))
        except Exception as error:
            # the loop is gone and the engine lives on, as a thread's death leaves a server
            said = f"{type(error).__name__}: {error}"
            self.dead_loop = f"prefill's bootstrap loop died at {clock.now():.3f} s of {said}"
            self.events.fault("bootstrap_loop_died", error=said)

    def _hear(self, message: Message) -> None:
        each, early = self.open.get(message.room), message.room > self._newest
        if message.tag is Tag.GUARD:
            if message.info is not None and (early or each is not None):
                self.told[message.room] = message.info
        elif each is not None:
            self._give_up(each, message)
        elif early:
            self._given_up[message.room] = message
        else:
            self.lane.to_decode.send(Message(Tag.DRAINED, message.room))
        self.engine.wake()

    def _give_up(self, each: Outgoing, message: Message) -> None:
        each.by_decode = True
        self._flag(each, message.cause, message.why)

    def _open_room(self, req: Request) -> None:
        each = Outgoing(Room(req.id, req))
        self._enqueue(each)
        self._newest = req.id
        if message := self._given_up.pop(req.id, None):
            self._give_up(each, message)

    def _abort(self, req: Request) -> None:
        """Nobody reads here: rooms are aborted by the decode side's message."""

    def _look(self) -> None:
        """The bootstrap loop has read the mail."""

    def _stand(self, each: Outgoing) -> Stand:
        if each.failing or each.cause is not Cause.NONE:
            return Stand(KVPoll.FAILED, not self.workers.outstanding(each.room.id), each.cause)
        return Stand(KVPoll.SUCCESS, True) if each.done else Stand(each.room.state)

    def _queue_stands(self) -> Stand:
        self._time_out()
        told = 0
        for number, each in self.queued.items():
            if number not in self.told and each.cause is Cause.NONE:
                break
            told = number
        return super()._queue_stands()._replace(drained=told)

    def _time_out(self) -> None:
        """Flag those that were to be told by now; whoever came first has waited longest."""
        for number, each in self.queued.items():
            if clock.now() < self._until_s(each):
                return
            if number not in self.told:
                self._flag(each, Cause.UNTOLD)

    def _let_in(self, number: int) -> None:
        """Compute what the decode side has taken pages for, on every rank."""
        for each in list(takewhile(lambda each: each.room.id <= number, self.queued.values())):
            self._poll_from_now_on(each)
            self._move(each, KVPoll.WAITING_FOR_INPUT)
            self.scheduler.add(each.req)

    def _act(self, each: Outgoing, stand: Stand) -> None:
        if stand.poll == KVPoll.SUCCESS:
            self._move(each, KVPoll.SUCCESS)
            self._close(each)
            if each.by_decode:  # heard while the ranks agreed: that side waits for the word
                self.lane.to_decode.send(Message(Tag.DRAINED, each.room.id))
        elif stand.poll == KVPoll.FAILED and not each.failing:
            self._fail(each, Cause(stand.cause))
        elif stand.poll == KVPoll.FAILED and stand.drained:
            self._close(each)
            self.lane.to_decode.send(Message(Tag.DRAINED, each.room.id))

    def _fail(self, each: Outgoing, cause: Cause) -> None:
        """Stop computing; what is on the wire is waited for."""
        each.failing = True
        why = self._told(each, cause)
        if cause is Cause.UNTOLD:
            self.events.count("bootstrap_timeouts")
        each.room.fail(why, clock.now(), self.events)
        if each.room.id in self.queued:
            self._poll_from_now_on(each)
            self.scheduler.drop(each.req)
        else:
            self.scheduler.abort(each.req)
        if not each.by_decode:
            self.lane.to_decode.send(Message(Tag.FAILED, each.room.id, why=why, cause=cause))
        self.engine.wake()

    def _close(self, each: Outgoing) -> None:
        """Nothing is read from the room's pages any more."""
        self._forget(each)
        self.told.pop(each.room.id, None)
        if each.slot:
            self.lane.prefill_slots.give(each.slot)
        self.scheduler.settle()

    def _until_s(self, each: Outgoing) -> float:
        return each.room.since + self.config.bootstrap_timeout

    def _queue_s(self) -> float | None:
        first = next(iter(self.queued.values()), None)
        return None if first is None else self._until_s(first)

    def _send(self, each: Outgoing, chunk: Chunk, token: int | None) -> None:
        """Queue a chunk: its pages from where the last one ended, a cached prefix with the first.

        A page that is not full goes with the last chunk alone.
        """
        room, req, info = each.room.id, chunk.req, self.told[each.room.id]
        start, end = each.sent, pages_of(chunk.end)
        pages = req.pages[start:end]
        pieces = [self.lane.plan.kv(each.chunks, chunk.last, pages, info.pages[start:end])]
        self.lane.watch.stored(room, start, pages)
        if token is not None:
            pieces += self._rest(each, token)
        job = Job(room, each.chunks, tuple(pieces), chunk.last)
        self.lane.edges.queued(job)
        self.workers.add(job)
        each.chunks, each.sent = each.chunks + 1, end
        if each.room.state is KVPoll.WAITING_FOR_INPUT:
            self._move(each, KVPoll.TRANSFERRING)

    def _rest(self, each: Outgoing, token: int) -> list[Piece]:
        """What goes once: window and states of the prompt's end, and the first token."""
        req, info, plan = each.req, self.told[each.room.id], self.lane.plan
        window = window_pages(len(req.prompt))
        src = [req.pages[at] for at in window]
        self.lane.watch.stored_state(each.room.id, list(window), src, req.req_slot)
        slot = self.lane.prefill_slots.take()
        assert slot is not None  # as many as request slots, and held as long
        each.slot = slot
        self.lane.prefill_slots.write(slot, each.room.id, token, req.cached_tokens, req.host_tokens)
        dst = [info.pages[at] for at in window]
        return [plan.state(src, dst, req.req_slot, info.req_slot), plan.aux(slot, info.aux_index)]

    def _arrived(self, job: Job, piece: Piece) -> None:
        """A piece has moved its bytes."""
        self.lane.arrived(job.room, piece, self.told[job.room])
        self.watchdog.progress()

    def _ended(self, job: Job, state: PostState) -> None:
        self.lane.edges.ended(job.room, job)
        each = self.open.get(job.room)
        if each is not None:
            each.done = each.done or (job.last and state is PostState.DONE)
            if state is PostState.ERR:
                self._flag(each, Cause.REFUSED, f"{Cause.REFUSED.words}: {job.why}")
            elif state is PostState.CANCELLED and not each.failing:
                self._flag(each, Cause.PEER)
            self.engine.wake()

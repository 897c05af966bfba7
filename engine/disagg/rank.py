"""What both roles do alike: an inbox, rooms that are open, and a poll that ranks agree on.

One rule: whatever changes a scheduler's books is a command that all ranks take in the same order,
or a poll that they reduced.

Rooms that nothing was done for yet are queued. They answer a poll as one, and are asked each for
itself only where some rank wants one of them to fail: a turn costs what can change, however many
wait. The queues of all ranks are equal, and so are the rooms that are polled one by one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from engine import clock
from engine.disagg.rooms import Cause, KVPoll, Room
from engine.engine import least

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engine.disagg.lane import Lane
    from engine.disagg.questions import RoomQuestions
    from engine.disagg.ranks import Collective
    from engine.disagg.watchdog import Watchdog
    from engine.disagg.wire import Side
    from engine.engine import Engine
    from engine.request import Request
    from engine.role import News
    from engine.sched.batch import Batch


# A timer may come a float's last bit before its deadline, and asyncio runs one that is due within
# its clock's resolution at once: ranks that wake each other would look for ever at one moment.
LEAST_S = 1e-6


@dataclass(eq=False)
class Open:
    """A room that a side has not done with. It must fail once this rank has a ``cause``; ``why``
    is that in words. ``failing`` rooms wait for their last write.
    """

    room: Room
    cause: Cause = Cause.NONE
    why: str = ""
    failing: bool = False

    @property
    def req(self) -> Request:
        """The side's own request."""
        return self.room.req


class Stand(NamedTuple):
    """A room's poll by one rank, whether nothing of it is on its way, and why it fails, if it does.

    Of the queue as a whole: FAILED if one of its rooms must, and the number of the room up to which
    all may be let in.
    """

    poll: int
    drained: int = 0
    cause: int = Cause.NONE


R = TypeVar("R", bound=Open)


class Rank(Generic[R]):
    """One rank of one side. ``open`` are its rooms by number, in the order of their opening.

    Each of them is either ``queued`` or polled. ``engine``, ``events`` and ``scheduler`` are there
    from ``attach`` on, and nothing is asked of a rank before.
    """

    name: Side
    awaits: ClassVar[Mapping[KVPoll, str]]  # for what a room waits in a state on this side

    def __init__(
        self, lane: Lane, ranks: Collective, ask: RoomQuestions, watchdog: Watchdog
    ) -> None:
        self.lane, self.ranks, self.ask, self.watchdog = lane, ranks, ask, watchdog
        self.rank, self.common = lane.rank, lane.common
        self.open: dict[int, R] = {}
        self.queued: dict[int, R] = {}
        self._polled: dict[int, R] = {}
        self._flagged = False  # some queued room must fail
        self._inbox: deque[tuple[Callable[[Request], None], Request]] = deque()
        self._news: list[News] = []
        self.peers: Sequence[Rank[R]] = [self]  # all ranks of the side, this one among them
        self.asked: WeakValueDictionary[int, Request] = WeakValueDictionary()  # by number

    def add(self, req: Request) -> None:
        """Open a room before the next step. Raises ``RequestRefused`` for what cannot be served."""
        self.scheduler.limits.refuse_if_hopeless(req, self.scheduler.holdings.allocator.pages)
        self.asked[req.id] = req
        self.put(self._open_room, req)

    def attach(self, engine: Engine) -> None:
        """The engine is built."""
        self.engine, self.events = engine, engine.events
        self.scheduler = engine.scheduler

    def abort(self, req: Request) -> None:
        """End a request before the next step, on every rank."""
        for peer in self.peers:
            if (its := peer.asked.get(req.id)) is not None:
                peer.put(peer._abort, its)

    def put(self, command: Callable[[Request], None], req: Request) -> None:
        """Ask this rank for something; it is done once all ranks were asked."""
        self._inbox.append((command, req))
        self.engine.nudge()

    async def agree(self) -> list[News]:
        """Take what all ranks were asked to do, then act on what they all see of every room."""
        await self._take_in()
        self._look()
        rooms = list(self._polled.values())
        stands = [self._stand(each) for each in rooms]
        stands.append(self._queue_stands())
        polls = [stand.poll for stand in stands]
        met = self.ask.agreement.enters(polls, self.scheduler.batches_in_flight)
        *stands, queue = await self._reduced(stands) if met else stands
        for each, stand in zip(rooms, stands, strict=True):
            self._act(each, stand)
        if queue.poll == KVPoll.FAILED:
            await self._fail_queued(met)
        self._let_in(queue.drained)
        news, self._news = self._news, []
        return news

    async def forward(self, batch: Batch) -> None:
        """The all-reduces of a step's layers, as one: ranks whose steps differ in size never meet,
        and those that reduce other requests' rows into each other are seen to.
        """
        mine = [req.id for req in batch.requests]
        name = f"forward of {batch.tokens} tokens"
        if await self.ranks.all_reduce_min(self.rank, name, mine) != mine:
            self.events.fault("ranks_ran_different_batches", requests=str(mine))

    def wait_s(self) -> float | None:
        """Seconds until the nearest deadline of a room."""
        nearest = least(self._queue_s(), *map(self._deadline_s, self._polled.values()))
        return None if nearest is None else max(LEAST_S, nearest - clock.now())

    def called(self) -> bool:
        """Whether another rank waits for this one."""
        return self.ranks.called(self.rank)

    def stepped(self) -> None:
        """A step has run: that is progress."""
        self.watchdog.progress()

    def drained(self, req: Request) -> bool:
        """Whether no write of the request's room is left."""
        return req.id not in self.open

    def waiting(self) -> Iterator[str]:
        """Who waits in which state for what since when, a phrase a state."""
        states = [each.room.state for each in self.open.values()]
        for state in sorted({*states}):
            rooms = [each.room for each in self.open.values() if each.room.state is state]
            first = min(rooms, key=lambda room: (room.since, room.id))
            many = f"{len(rooms)} rooms, first" if len(rooms) > 1 else "only"
            yield (
                f"{self.name}: {state.title}, waiting for {self.awaits[state]}: "
                f"{many} room {first.id} since {first.since:.3f} s"
            )

    async def _take_in(self) -> None:
        [many] = await self.ranks.all_reduce_min(self.rank, "inbox", [len(self._inbox)])
        for _ in range(many):
            command, req = self._inbox.popleft()
            command(req)

    async def _reduced(self, stands: list[Stand]) -> list[Stand]:
        """The least of what all ranks see."""
        if self.ranks.size == 1:
            return stands
        agreed = await self._reduce("poll", [value for stand in stands for value in stand])
        return [Stand(*agreed[at : at + 3]) for at in range(0, len(agreed), 3)]

    async def _reduce(self, name: str, values: list[int]) -> list[int]:
        if self.rank == 0 and self.ranks.size > 1:
            self.events.count("collectives")
        return await self.ranks.all_reduce_min(self.rank, name, values)

    async def _fail_queued(self, met: bool) -> None:
        """Fail the queued rooms that some rank has flagged."""
        self._flagged = False
        rooms = list(self.queued.values())
        causes: list[int] = [each.cause for each in rooms]
        if met:
            causes = await self._reduce("flags", causes)
        for each, cause in zip(rooms, causes, strict=True):
            if cause != Cause.NONE:
                self._fail(each, Cause(cause))

    def _enqueue(self, each: R) -> None:
        """A room has opened."""
        self.watchdog.arriving()
        self.open[each.room.id] = self.queued[each.room.id] = each
        each.room.open(clock.now())
        self.lane.opened(self.name, each.room)

    def _poll_from_now_on(self, each: R) -> None:
        self.queued.pop(each.room.id, None)
        self._polled[each.room.id] = each

    def _forget(self, each: R) -> None:
        """The side has done with a room, which has ended."""
        for rooms in (self.open, self.queued, self._polled):
            rooms.pop(each.room.id, None)
        self.lane.closed(self.name, each.room)

    def _flag(self, each: R, cause: Cause, why: str = "") -> None:
        """A room must fail. What was said first stands."""
        if each.cause is Cause.NONE:
            each.cause, each.why = cause, why or cause.words
            self._flagged |= each.room.id in self.queued

    def _told(self, each: R, cause: Cause) -> str:
        """What to say of a room that fails of an agreed cause."""
        return each.why if each.cause is cause else cause.words

    def _move(self, each: R, to: KVPoll) -> None:
        each.room.move(to, clock.now(), self.events)
        self.watchdog.progress()

    def _look(self) -> None:
        """Read the mail, and start what can be started."""
        raise NotImplementedError

    def _open_room(self, req: Request) -> None:
        raise NotImplementedError

    def _abort(self, req: Request) -> None:
        raise NotImplementedError

    def _stand(self, each: R) -> Stand:
        """This rank's poll of a room."""
        raise NotImplementedError

    def _queue_stands(self) -> Stand:
        """This rank's poll of those that are queued."""
        return Stand(KVPoll.FAILED if self._flagged else KVPoll.BOOTSTRAPPING)

    def _act(self, each: R, stand: Stand) -> None:
        """Do what all ranks agreed on."""
        raise NotImplementedError

    def _fail(self, each: R, cause: Cause) -> None:
        raise NotImplementedError

    def _let_in(self, number: int) -> None:
        """Take the rooms up to ``number`` out of the queue."""

    def _deadline_s(self, each: R) -> float | None:
        """When a polled room must be looked at."""
        return None

    def _queue_s(self) -> float | None:
        """When the queue must be looked at."""
        return None

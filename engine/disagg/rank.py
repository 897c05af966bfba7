"""What both roles do alike: an inbox, rooms that are open, and a poll that ranks agree on.

One rule: whatever changes a scheduler's books is a command that all ranks take in the same order,
or a poll that they reduced.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar
from weakref import WeakValueDictionary

from engine import clock
from engine.disagg.rooms import KVPoll, Room
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
    """A room that a side has not done with. ``flag`` is why it must fail, once something says so.

    ``failing`` rooms wait for their last write; ``drained`` is when there is none.
    """

    room: Room
    flag: str = ""
    failing: bool = False
    drained: bool = False

    @property
    def req(self) -> Request:
        """The side's own request."""
        return self.room.req


R = TypeVar("R", bound=Open)


class Rank(Generic[R]):
    """One rank of one side. ``open`` are its rooms by number, in the order of their opening."""

    name: Side
    awaits: ClassVar[Mapping[KVPoll, str]]  # for what a room waits in a state on this side

    def __init__(
        self, lane: Lane, ranks: Collective, ask: RoomQuestions, watchdog: Watchdog
    ) -> None:
        self.lane, self.ranks, self.ask, self.watchdog = lane, ranks, ask, watchdog
        self.rank = lane.rank
        self.open: dict[int, R] = {}
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
        rooms = list(self.open.values())
        polls = [value for each in rooms for value in self._stand(each)]
        if self.ask.agreement.enters(polls[::2], self.scheduler.batches_in_flight):
            polls = await self.ranks.all_reduce_min(self.rank, "poll", polls)
            if self.rank == 0 and self.ranks.size > 1:
                self.events.count("collectives")
        for each, poll, drained in zip(rooms, polls[::2], polls[1::2], strict=True):
            self._act(each, KVPoll(poll), bool(drained))
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
        nearest = least(*(self._deadline_s(each) for each in self.open.values()))
        return None if nearest is None else max(LEAST_S, nearest - clock.now())

    def called(self) -> bool:
        """Whether another rank waits for this one."""
        return self.ranks.called(self.rank)

    def stepped(self) -> None:
        """A step has run: that is progress."""
        self.watchdog.progress()

    def drained(self, req: Request) -> bool:
        """Whether no write of the request's room is left."""
        each = self.open.get(req.id)
        return each is None or each.drained

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

    def _stand(self, each: R) -> tuple[int, int]:
        """This rank's poll of a room, and whether nothing of it is on its way."""
        raise NotImplementedError

    def _act(self, each: R, poll: KVPoll, drained: bool) -> None:
        """Do what all ranks agreed on."""
        raise NotImplementedError

    def _deadline_s(self, each: R) -> float | None:
        raise NotImplementedError

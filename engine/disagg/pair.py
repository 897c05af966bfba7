"""Two engines as one: what a router in front of a prefill and a decode server makes of them.

One rule: it has the face of a single engine (`engine.engine.Engine`); the first decode rank speaks
to the clients, all ranks of both sides are told the same in the same order.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from engine import clock
from engine.assembly import room_questions
from engine.disagg.decode import DecodeRole
from engine.disagg.heartbeat import Heartbeat
from engine.disagg.lane import Lane
from engine.disagg.prefill import PrefillRole
from engine.disagg.ranks import Collective
from engine.disagg.sides import decode_config, prefill_config
from engine.disagg.watchdog import Watchdog
from engine.engine import Engine, operations
from engine.events import EventLog
from engine.pools.geometry import paired
from engine.request import Request
from engine.shadow.memory import Common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import EngineConfig
    from engine.disagg.records import RoomDigest, RoomRecord
    from engine.handle import Handle
    from kernels.ops import Ops

QUIET_S = 30.0  # nothing gets on for so long, and somebody waits: that is told


class Pair:
    """Serves requests on the running loop's clock, each through a room of its number.

    Raises ``ConfigError`` on what cannot work: unlike layouts, a wire that is not installed.
    """

    def __init__(self, config: EngineConfig, ops: Ops | None = None) -> None:
        self.config = config
        self.events = EventLog(clock.now_ns)
        self.watchdog = Watchdog(QUIET_S, self._waiting, self._busy, self.events, self._waits)
        self._heart = Heartbeat(
            lambda: not any(engine.died for engine in self.prefill),
            self._heart_is_needed,
            self._prefill_is_dead,
        )
        self.watchdog.on_resume = self._heart.start
        self._build(ops or operations(config))
        self._started = False

    @property
    def died(self) -> Exception | None:
        """What ended one of the loops, if something did."""
        return next((engine.died for engine in self.engines if engine.died is not None), None)

    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str] = ()) -> Handle:
        """Queue a generation on both sides. Raises as ``Engine.submit`` does."""
        if (died := self.died) is not None:
            raise died
        for engine, most in ((self.prefill[0], 1), (self.decode[0], max_tokens)):
            pages = engine.scheduler.holdings.allocator.pages
            asked = Request(0, prompt, most)
            engine.scheduler.limits.refuse_if_hopeless(asked, pages)
        self._start()
        for engine in self.prefill:
            engine.enqueue(prompt, 1)
        for engine in self.decode[1:]:
            engine.enqueue(prompt, max_tokens, stop)
        return self.decode[0].submit(prompt, max_tokens, stop)

    def abort(self, request_id: int) -> bool:
        """End a generation at any stage; False for a number that nobody is served under."""
        return self.decode[0].abort(request_id)

    def abort_all(self) -> None:
        """End every generation, in the order in which they came."""
        self.decode[0].abort_all()

    def flush(self) -> bool:
        """Forget every cached prefix of both sides; False while anybody is served."""
        flushed = [engine.flush() for engine in self.engines]
        return all(flushed)

    def info(self) -> dict[str, Any]:
        """The effective configuration and how full both sides are, JSON-ready."""
        prefill, decode = self.prefill[0].info(), self.decode[0].info()
        full = ("free_pages", "cached_pages", "running", "waiting")
        return {
            **self.config.as_dict(),
            **{key: prefill[key] for key in full},
            **{f"decode_{key}": decode[key] for key in full},
            "counters": dict(self.events.counters),
            "geometry": [
                row.as_dict() for row in paired(self.prefill[0].geometry, self.decode[0].geometry)
            ],
        }

    def room_records(self) -> list[RoomRecord]:
        """Every room, as each rank saw it."""
        return [record for lane in self.lanes for record in lane.closed_records()]

    def room_digests(self) -> list[RoomDigest]:
        """What both sides digested of the rooms' pages."""
        return [
            digest._replace(rank=lane.rank) for lane in self.lanes for digest in lane.watch.digests
        ]

    async def stop(self) -> None:
        """End every generation and all loops, for good."""
        self.watchdog.stop()
        for role in self._senders:
            role.stop()
        for engine in self.engines:
            await engine.stop()
        self._heart.stop()  # the engines had rooms until now
        for lane in self.lanes:
            lane.close()

    def _build(self, ops: Ops) -> None:
        """Engines, lanes and roles of every rank; then both sides of each lane are connected."""
        config, ranks = self.config, range(self.config.tp)
        ask, common = room_questions(config), Common()
        self.lanes = [Lane(config, rank, common) for rank in ranks]
        log = {side: [self.events.side(side, rank) for rank in ranks] for side in SIDES}
        self._meet = {side: Collective(side, config.tp, log[side][0]) for side in SIDES}
        sending, taking = prefill_config(config), decode_config(config)
        self._senders = [
            PrefillRole(sending, lane, self._meet["prefill"], ask, self.watchdog)
            for lane in self.lanes
        ]
        self._takers = [
            DecodeRole(taking, lane, self._meet["decode"], ask, self.watchdog, self._heart)
            for lane in self.lanes
        ]
        for role in self._takers:
            role.peers = self._takers
        self.prefill = [Engine(sending, ops, log["prefill"][r], self._senders[r]) for r in ranks]
        self.decode = [Engine(taking, ops, log["decode"][r], self._takers[r]) for r in ranks]
        self.engines = [*self.prefill, *self.decode]
        for lane, prefill, decode in zip(self.lanes, self.prefill, self.decode, strict=True):
            lane.connect(prefill, decode, ask.layout, ops.page_digest)
        for engine in self.decode[1:]:  # nobody reads there, and the first one waits for it
            engine.on_death = self.decode[0].die
        self._meet["prefill"].on_enter = lambda rank: self.prefill[rank].nudge()
        self._meet["decode"].on_enter = lambda rank: self.decode[rank].nudge()

    def _start(self) -> None:
        if not self._started:
            self._started = True
            for role in self._senders:
                role.start()

    def _waiting(self) -> list[str]:
        """Who waits for what since when: what may be the cause first.

        Loops that are no more, collectives, then rooms.
        """
        rooms = [self._senders[0].waiting(), self._takers[0].waiting()]
        stuck = [phrase for ranks in self._meet.values() for phrase in ranks.waiting()]
        lost = [role.dead_loop for role in self._senders if role.dead_loop]
        return [*lost, *stuck, *chain.from_iterable(rooms)]

    def _waits(self) -> bool:
        """Whether ``_waiting`` would name somebody."""
        first = (self._senders[0], self._takers[0])
        stuck = any(ranks.waits for ranks in self._meet.values())
        return stuck or any(r.open for r in first) or any(r.dead_loop for r in self._senders)

    def _busy(self) -> bool:
        """Whether bytes move or a step is computed, anywhere."""
        sends = any(role.workers.busy for role in self._senders)
        return sends or any(engine.busy for engine in self.engines)

    def _heart_is_needed(self) -> bool:
        return not self.watchdog.fired and any(role.open for role in self._takers)

    def _prefill_is_dead(self) -> None:
        for role in self._takers:
            role.give_up()


SIDES = ("prefill", "decode")

"""Plays schedules of arrivals and aborts on a pair, and judges both sides after each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from engine import clock
from engine.config import EngineConfig
from engine.disagg.lane import Lane
from engine.disagg.mail import TransferInfo
from engine.disagg.pair import Pair
from engine.disagg.pieces import Piece
from engine.disagg.rooms import KVPoll
from engine.errors import RoomFailed
from engine.sched.scheduler import Scheduler
from tests.engine.disagg import pairs, tokens_only
from tests.engine.disagg.schedules import Ask, Asked, a_few_prefixes, schedule

Play = Callable[[EngineConfig, Callable[[Pair], Awaitable[None]]], Pair]


class Storm:
    """Plays schedules on one pair. ``stages`` counts where a room stood when it was aborted."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.stages: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.finished = 0
        self.strayed: list[str] = []
        self._due: dict[int, tuple[Asked, int]] = {}
        self._happened = 0
        self._emit, pair.events.emit = pair.events.emit, self._happen  # type: ignore[method-assign]
        for late, lane in enumerate(pair.lanes):  # ranks do not hear of a thing at one moment
            lane.to_decode.latency_s *= 1 + 49 * late
            lane.to_prefill.latency_s *= 1 + 9 * late
        for lane, engine in zip(pair.lanes, pair.decode, strict=True):
            self._watch_landings(lane, engine.scheduler)

    async def play(self, asked: list[Asked]) -> None:
        """One schedule, from its first arrival until both sides are at rest."""
        async with asyncio.timeout(pairs.LONGEST_S):
            await asyncio.gather(*(self._serve(each) for each in asked))
        await pairs.rest(self.pair)
        assert not self.strayed, self.strayed
        for each in asked:
            self._judge(each)

    async def _serve(self, each: Asked) -> None:
        await clock.sleep(each.at_s)
        each.handle = self.pair.submit(each.prompt, each.most)
        self._due[each.handle.request_id] = each, self._happened + each.abort_on
        timer = asyncio.get_running_loop().call_later(each.abort_s, self._abort, each)
        try:
            async for group in each.handle:
                each.got += group
                if len(each.got) > each.abort_after:
                    self._abort(each)
        except RoomFailed as error:
            each.error = error
        timer.cancel()
        del self._due[each.handle.request_id]

    def _happen(self, kind: str, **fields: Any) -> None:
        self._emit(kind, **fields)
        self._tick()

    def _tick(self) -> None:
        """Something happened: whoever waited for it is aborted as soon as the loop is free."""
        for each, on in list(self._due.values()):
            if on == self._happened:
                asyncio.get_running_loop().call_soon(self._abort, each)
        self._happened += 1

    def _abort(self, each: Asked) -> None:
        assert each.handle is not None
        if each.handle.finish_reason is not None:
            return
        each.aborted = True
        self.stages.update(stages(self.pair, each.handle.request_id))
        for _ in range(1 + each.twice):
            self.pair.abort(each.handle.request_id)

    def _judge(self, each: Asked) -> None:
        """Whoever finished has the reply, whoever did not has the beginning of it."""
        assert each.handle is not None
        reason = each.handle.finish_reason
        assert reason is not None
        if reason != "abort":
            assert each.got == each.right
            self.finished += 1
            return
        assert each.got == each.right[: len(each.got)]
        if each.error is not None:
            self.failed[str(each.error)] += 1
        else:
            assert each.aborted

    def _watch_landings(self, lane: Lane, scheduler: Scheduler) -> None:
        """Judge every landing by the decode side's books: whose are the pages and the slots?"""
        judged = lane.watch.landed

        def landed(room: int, piece: Piece, info: TransferInfo, tokens: int) -> None:
            judged(room, piece, info, tokens)
            self.strayed += strayed(room, info, lane, scheduler)
            self._tick()

        lane.watch.landed = landed  # type: ignore[method-assign]


def stages(pair: Pair, room: int) -> Iterator[str]:
    """Where a room stands on both sides of its first lane."""
    taking: Any = pair.decode[0].role
    sending: Any = pair.prefill[0].role
    here, there = taking.open.get(room), sending.open.get(room)
    if here is None:
        queued = any(req.id == room for _, req in taking._inbox)
        yield "not opened" if queued else "row"
        if pair.decode[0].scheduler.batches_in_flight and not queued:
            yield "row, a step in flight"
        return
    if here.failing:
        yield "failing"
    elif here.info is None:
        yield "prealloc"
    elif here.reception.complete:
        yield "landed, not committed"
    if there is None:
        return
    yield f"prefill {there.room.state.title}"
    if there.room.state is KVPoll.WAITING_FOR_INPUT and there.req.inflight:
        yield "first chunk computed"
    if there.room.state is KVPoll.TRANSFERRING:
        yield "posted" if sending.workers.posted(room) else "jobs queued or done"
        if not there.slot:
            yield "between chunks"


def strayed(room: int, info: TransferInfo, lane: Lane, scheduler: Scheduler) -> Iterator[str]:
    """What of a room's is somebody else's while its bytes still arrive."""
    for page, take in zip(info.pages, info.takes, strict=True):
        if (scheduler.owner_of(page), scheduler.generation_of(page)) != (f"request {room}", take):
            yield f"room {room} was written to page {page}, of {scheduler.owner_of(page)}"
    users = {req.req_slot: req.id for req in scheduler._admitted()}
    if users.get(info.req_slot) != room:
        yield f"room {room} was written to request slot {info.req_slot}"
    if not lane.decode_slots._held[info.aux_index]:
        yield f"room {room} was written to metadata slot {info.aux_index}, which is free"


def storm(
    config: EngineConfig,
    seeds: range,
    ask: Ask = a_few_prefixes,
    play: Play = tokens_only.play,
) -> Storm:
    """Play the schedules ``seeds`` one after the other on one pair."""
    storms: list[Storm] = []

    async def story(pair: Pair) -> None:
        storms.append(Storm(pair))
        for seed in seeds:
            try:
                await storms[0].play(schedule(seed, ask))
            except BaseException as error:
                error.add_note(f"abort schedule {seed}")
                raise

    play(config, story)
    return storms[0]

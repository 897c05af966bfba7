"""A pair of engines in a test: its readers, and what must be true of it at rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.disagg.lane import Lane
from engine.disagg.pair import Pair
from engine.engine import Engine
from engine.handle import Handle
from kernels.ops import Ops

LONGEST_S = 400.0  # until whatever was begun has ended: a timeout, a deferred release


def config(**toggles: Any) -> EngineConfig:
    """A small pair."""
    sizes: dict[str, Any] = {
        "pd": True,
        "pool_pages": 48,
        "chunked_prefill": 512,
        "max_running": 8,
        "graph_max_bs": 8,
        "hisparse_buffer": 16,
        "model": ModelConfig(index_topk=16),
    }
    return EngineConfig(**(sizes | toggles))


def play(
    setting: EngineConfig, story: Callable[[Pair], Awaitable[None]], ops: Ops | None = None
) -> Pair:
    """Tell ``story(pair)`` under a virtual clock, and stop the pair."""

    async def main() -> Pair:
        pair = Pair(setting, ops)
        shift(pair)
        await story(pair)
        await pair.stop()
        return pair

    return clock.run(main())


def shift(pair: Pair) -> None:
    """Let the decode side hand its pages out one further on: cold pools that are asked alike would
    give a room the same numbers on both sides, and hide who takes the one for the other.
    """
    for engine in pair.decode:
        allocator = engine.scheduler.holdings.allocator
        first, *rest = allocator.allocate(allocator.pages)
        order = [*rest, first]
        allocator.free(order[::-1] if engine.config.allocator == "lifo" else order)


async def read(handle: Handle) -> list[int]:
    """A whole reply."""
    return [token async for group in handle for token in group]


async def rest(pair: Pair) -> None:
    """Let whatever was begun come to its end. Then nobody holds anything, on either side."""
    until = clock.now() + LONGEST_S
    while clock.now() < until and list(unrest(pair)):
        await clock.sleep(0.5)
    await clock.sleep(0.001)  # whoever was the last to end something looks at its books now
    problems = [*unrest(pair)] or [*broken(pair)]
    assert not problems, problems


def unrest(pair: Pair) -> Iterator[str]:
    """Who is not done yet."""
    for engine in pair.engines:
        role: Any = engine.role
        yield from (f"{role.name} has not done with room {room}" for room in role.open)
        if not engine.scheduler.idle or engine.streams.wait_s() is not None:
            yield f"{role.name} {role.rank} is not idle"
        if role.name == "prefill" and role.workers.busy:
            yield f"prefill {role.rank} still sends"


def broken(pair: Pair) -> Iterator[str]:
    """What is wrong with a pair at rest."""
    if pair.died is not None:
        yield f"died of {pair.died!r}"
    for name, n in pair.events.counters.items():
        if n and name.startswith(("violation:", "fault:", "late_writes")):
            yield f"{name} {n}"
    for engine in pair.engines:
        yield from _books(engine)
    for lane in pair.lanes:
        yield from _lane(lane)


def _books(engine: Engine) -> Iterator[str]:
    role: Any = engine.role
    held, who = engine.scheduler.holdings, f"{role.name} {role.rank}"
    yield from (f"{who}: {problem}" for problem in engine.scheduler.check())
    if engine._audited != engine.scheduler.books:
        yield f"{who}: something changed hands after the last audit"
    free, cached = held.allocator.available, held.cache.cached_pages
    if free + cached != held.allocator.pages or cached != held.cache.evictable_pages:
        yield f"{who}: {free} pages are free and {cached} cached of {held.allocator.pages}"
    if held.slots.available != held.slots.pages:
        yield f"{who}: {held.slots.available} request slots are free of {held.slots.pages}"
    left = [name for name in ("told", "_given_up", "_prealloc", "_inbox") if getattr(role, name, 0)]
    yield from (f"{who}: {name} is not empty" for name in left)


def _lane(lane: Lane) -> Iterator[str]:
    for side, slots in (("prefill", lane.prefill_slots), ("decode", lane.decode_slots)):
        if slots.available != slots.slots:
            yield f"{side} {lane.rank}: {slots.available} metadata slots free of {slots.slots}"
    wire: Any = lane.wire
    if wire._posted:
        yield f"rank {lane.rank}: the wire still holds posts of rooms {list(wire._posted)}"

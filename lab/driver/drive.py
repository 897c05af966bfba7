"""All sessions of one arm, driven to their end over one httpx client.

Sessions start when they arrive, at most ``concurrency`` at once, in the order of their plans
(`lab.driver.seats`); a session is one conversation built from what was really received. It ends
early where no reply came (timeout, transport error), however often the load tells its clients to
ask again, and where its client left on purpose. One rule: time is the loop's, so the same code runs
under the virtual clock and on a wall.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from engine.clock import is_virtual, now, sleep
from lab.driver.client import OURS, Ask, Outcome, ask
from lab.driver.seats import Seats
from lab.driver.tools import follow_up
from lab.driver.turns import Turns
from lab.driver.usual import Usual

if TYPE_CHECKING:
    import httpx

    from lab.driver.recorder import Recorder
    from lab.records import SessionPlan


RETRY_PAUSE_S = 1.0
AGAIN = ("transport_error", "timeout")  # how a try ends after which a client may ask again


@dataclass(frozen=True)
class Load:
    """How the sessions are driven. Durations in seconds, ``abort_rate`` per turn.

    A client that leaves does so a uniformly drawn part of ``abort_within_s`` after sending, each
    time that it sends; ``adapts`` makes that the same part of what a reply usually takes, where it
    is less. ``cancels`` are those that leave in any case, by session and turn, and after
    how long. ``retries`` is how often a turn that failed is asked again. ``stall_s`` is
    how long it waits for the next part of a stream, ``extra`` what this server knows of extensions.
    """

    concurrency: int = 60
    stream: bool = True
    max_tokens: int = 420
    timeout_s: float = 600.0
    abort_rate: float = 0.0
    abort_within_s: float = 2.0
    adapts: bool = False
    cancels: Mapping[tuple[int, int], float] = field(default_factory=dict)
    retries: int = 0
    seed: int = 0
    model: str = "kvlab"
    stall_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: OURS)


@dataclass(frozen=True)
class Lane:
    """What all sessions of an arm share; ``throttle`` caps requests to a URL by the wall clock."""

    http: httpx.AsyncClient
    load: Load
    recorder: Recorder
    seats: Seats
    throttle: AbstractAsyncContextManager[Any]
    usual: Usual = field(default_factory=Usual)


async def drive(
    http: httpx.AsyncClient,
    load: Load,
    recorder: Recorder,
    throttle: AbstractAsyncContextManager[Any] | None = None,
) -> None:
    """Run every plan of ``recorder`` to its end; what happened is in ``recorder.replies()``."""
    recorder.start_s = now()
    seats = Seats(recorder.plans, load.concurrency)
    if throttle is None:
        throttle = nullcontext() if is_virtual() else Turns()
    lane = Lane(http, load, recorder, seats, throttle)
    async with asyncio.TaskGroup() as sessions:
        for plan in recorder.plans:
            sessions.create_task(_arrive(plan, lane), name=f"session-{plan.index:06d}")


async def _arrive(plan: SessionPlan, lane: Lane) -> None:
    try:
        await sleep(plan.start_s)
        await _converse(plan, lane)
    finally:
        lane.seats.leave(plan)


async def _converse(plan: SessionPlan, lane: Lane) -> None:
    """One conversation: ask, execute the calls that came back, ask again."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": plan.system}]
    leaving = departures(plan, lane.load)
    for turn, planned in enumerate(plan.turns):
        await lane.seats.take(plan, turn)
        messages.extend(planned.prompt_messages)
        await sleep(plan.think_s[turn])
        outcome = await _turn(plan, turn, messages, _leaves(plan, turn, leaving[turn], lane), lane)
        lane.usual.came(outcome)
        if outcome.status == "aborted":
            lane.recorder.withdraw(plan, turn + 1)
        if outcome.status != "ok":
            return
        messages.append(outcome.received.message())
        messages.extend(follow_up(planned, outcome.received))


async def _turn(
    plan: SessionPlan,
    turn: int,
    messages: list[dict[str, Any]],
    leave_s: float | None,
    lane: Lane,
) -> Outcome:
    load = lane.load
    request = Ask(
        messages=messages,
        tools=() if plan.raw else plan.tools,
        stream=load.stream,
        max_tokens=load.max_tokens,
        timeout_s=load.timeout_s,
        leave_s=leave_s,
        model=load.model,
        stall_s=load.stall_s,
        extra=load.extra,
    )
    outcome = await _try(plan, turn, request, lane)
    for _ in range(load.retries):
        if outcome.status not in AGAIN:
            break
        lane.recorder.retrying(plan, turn, outcome)
        await sleep(max(RETRY_PAUSE_S, outcome.pause_s))
        outcome = await _try(plan, turn, request, lane)
    lane.recorder.received(plan, turn, outcome)
    return outcome


async def _try(plan: SessionPlan, turn: int, request: Ask, lane: Lane) -> Outcome:
    async with lane.throttle:
        lane.recorder.sending(plan, turn, now())
    return await ask(lane.http, request)


def _leaves(plan: SessionPlan, turn: int, leave_s: float | None, lane: Lane) -> float | None:
    """When this client leaves, as it was planned or, by the wall's clock, a usual reply allows."""
    load = lane.load
    if leave_s is None or not load.adapts or (plan.index, turn) in load.cancels:
        return leave_s
    return lane.usual.before_it(leave_s, load.abort_within_s)


def departures(plan: SessionPlan, load: Load) -> list[float | None]:
    """For each turn, how long this client waits before it leaves; None where it stays. Seeded."""
    rng = Random(f"{load.seed}/departures/{plan.index}")
    drawn = [(rng.random(), rng.uniform(0.0, load.abort_within_s)) for _ in plan.turns]
    by_chance = [within if chance < load.abort_rate else None for chance, within in drawn]
    return [load.cancels.get((plan.index, turn), leave) for turn, leave in enumerate(by_chance)]

"""One engine of a pair dies: whoever reads hears of it, whichever rank of whichever side it was."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engine import clock
from engine.disagg.pair import QUIET_S, Pair
from engine.errors import RoomFailed
from engine.sched.batch import Batch
from tests.engine.disagg import pairs, schedules
from tests.engine.disagg.tokens_only import play
from tests.engine.sched.fakes import prompt

RANKS = pytest.mark.parametrize(("tp", "rank"), [(1, 0), (2, 0), (2, 1)])


def explode(batch: Batch, late_s: float = 0.0) -> None:
    raise ZeroDivisionError("in the middle of a step")


async def served(pair: Pair, side: str, rank: int) -> list[object]:
    """What four readers get when one engine's next step fails."""
    handles = [pair.submit(prompt(seed, 600), 20) for seed in range(4)]
    readers = [asyncio.create_task(pairs.read(handle)) for handle in handles]
    await clock.sleep(0.02)
    engine = {"prefill": pair.prefill, "decode": pair.decode}[side][rank]
    engine.runner.launch = explode  # type: ignore[assignment,method-assign]
    async with asyncio.timeout(60):
        return list(await asyncio.gather(*readers, return_exceptions=True))


@RANKS
def test_a_decode_engine_that_dies_takes_its_readers_along(tp: int, rank: int) -> None:
    async def story(pair: Pair) -> None:
        ended = await served(pair, "decode", rank)
        assert {type(each) for each in ended} == {ZeroDivisionError}
        assert clock.now() < 1.0
        with pytest.raises(ZeroDivisionError):
            pair.submit([1], 1)

    play(schedules.setting(0, tp=tp), story)


@pytest.mark.parametrize("deferred", [False, True], ids=["immediate", "deferred"])
def test_what_a_dead_prefill_had_posted_lands_in_nobody_s_pages(deferred: bool) -> None:
    """A row decodes on and grows into the pages that its failed neighbour gave back."""

    async def story(pair: Pair) -> None:
        for engine in pair.engines:
            engine.scheduler.limits = replace(engine.scheduler.limits, eos=-1)
        row, room = pair.submit(prompt(2, 200), 4000), pair.submit(prompt(1, 7000), 5)
        readers = [asyncio.create_task(pairs.read(handle)) for handle in (row, room)]
        while not pair.decode[0].scheduler.running:
            await clock.sleep(0.05)
        pair.prefill[0].die(ZeroDivisionError("x"))
        said, error = await asyncio.gather(*readers, return_exceptions=True)
        assert isinstance(error, RoomFailed)
        assert isinstance(said, list)
        assert len(said) == 4000
        await clock.sleep(30.0)
        assert not [name for name in pair.events.counters if "violation" in name]

    play(pairs.config(wire_gb_per_s=0.0004, chunked_prefill=8192, deferred_release=deferred), story)


@RANKS
@pytest.mark.parametrize("deferred", [False, True], ids=["immediate", "deferred"])
def test_a_prefill_engine_that_dies_fails_its_rooms_within_two_heartbeats(
    tp: int, rank: int, deferred: bool
) -> None:
    async def story(pair: Pair) -> None:
        ended = await served(pair, "prefill", rank)
        assert {type(each) for each in ended} == {RoomFailed}
        assert clock.now() == pytest.approx(10.0)
        await clock.sleep(0.001)
        for engine in pair.decode:
            held = engine.scheduler.holdings
            assert held.allocator.available == held.allocator.pages
            assert engine.scheduler.idle
        with pytest.raises(ZeroDivisionError):
            pair.submit([1], 1)

    pair = play(schedules.setting(0, tp=tp, deferred_release=deferred), story)
    assert {room.why for room in pair.room_records()} == {"the prefill side is dead"}


def test_after_a_silence_that_was_told_the_heart_beats_again() -> None:
    async def story(pair: Pair) -> None:
        pair.lanes[0].to_prefill.latency_s = QUIET_S + 10.0
        handles = [pair.submit(prompt(seed, 3000), 5) for seed in range(4)]
        await clock.sleep(QUIET_S + 10.5)
        assert pair.watchdog.fired is False
        assert pair.events.counters["fault:no_progress"] == 1
        pair.prefill[0].die(ZeroDivisionError("x"))
        pair.prefill[0].role.workers.stop()  # type: ignore[attr-defined]
        errors = await asyncio.gather(*map(pairs.read, handles), return_exceptions=True)
        assert {type(error) for error in errors} == {RoomFailed}
        assert clock.now() < QUIET_S + 25.0

    play(pairs.config(wire_gb_per_s=0.001), story)

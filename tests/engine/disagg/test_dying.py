"""One engine of a pair dies: whoever reads hears of it, whichever rank of whichever side it was."""

from __future__ import annotations

import asyncio

import pytest

from engine import clock
from engine.disagg.pair import Pair
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

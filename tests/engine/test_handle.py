"""A caller's end of one generation: groups of tokens, an end, or what it failed of."""

from __future__ import annotations

import asyncio

import pytest

from engine import clock
from engine.errors import EngineError, RoomFailed
from engine.handle import Handle
from engine.request import Request

FAILED = RoomFailed(17, "WaitingForInput", 300.0, "the waiting timeout")


def handle(aborted: list[int]) -> Handle:
    return Handle(Request(4, [1], 8), 1, lambda req: aborted.append(req.id))


def test_a_room_that_failed_is_told_with_its_state_and_seconds() -> None:
    assert str(FAILED) == "room 17 failed in WaitingForInput after 300.000 s: the waiting timeout"
    assert (
        str(RoomFailed(3, "Bootstrapping", 2.5)) == "room 3 failed in Bootstrapping after 2.500 s"
    )


def test_a_reason_that_names_the_state_is_enough() -> None:
    told = RoomFailed(3, "WaitingForInput", 8.0, "timed out in WaitingForInput")
    assert str(told) == "room 3 failed after 8.000 s: timed out in WaitingForInput"


def test_a_failed_generation_raises_in_its_own_reader_alone() -> None:
    async def read(one: Handle) -> list[list[int]]:
        return [group async for group in one]

    async def main() -> None:
        broken, whole = handle([]), handle([])
        readers = [asyncio.ensure_future(read(one)) for one in (broken, whole)]
        await clock.sleep(1)
        broken.fail(FAILED)
        await asyncio.wait(readers, timeout=1)
        assert readers[0].exception() is FAILED
        assert not readers[1].done()
        readers[1].cancel()

    clock.run(main())


def test_a_failed_generation_is_not_aborted_and_keeps_its_first_error() -> None:
    async def main() -> list[int]:
        aborted: list[int] = []
        failed = handle(aborted)
        failed.fail(FAILED)
        failed.fail(EngineError("the loop died"))
        failed.abort()
        with pytest.raises(RoomFailed):
            async for _ in failed:
                pass
        return aborted

    assert clock.run(main()) == []

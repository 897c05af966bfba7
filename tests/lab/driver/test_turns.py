"""Requests are begun a few a turn of the loop, in order, and nobody is forgotten."""

from __future__ import annotations

import asyncio

from engine import clock
from lab.driver.turns import Turns


async def begun(turns: Turns, many: int) -> list[int]:
    """In which turn of the loop each of so many that come at once begins."""
    seen: list[int] = []
    round_ = 0

    async def begin() -> None:
        async with turns:
            seen.append(round_)

    tasks = [asyncio.create_task(begin()) for _ in range(many)]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
        round_ += 1
    return seen


def test_a_few_begin_in_each_turn() -> None:
    seen = clock.run(begun(Turns(few=4), 10))
    counts = [seen.count(turn) for turn in sorted({*seen})]
    assert counts == [4, 4, 2]


def test_who_comes_later_begins_at_once() -> None:
    async def main() -> list[list[int]]:
        turns, found = Turns(few=4), []
        for _ in range(3):
            found.append(await begun(turns, 3))
            await clock.sleep(1.0)
        return found

    assert clock.run(main()) == [[0, 0, 0]] * 3


def test_who_left_the_queue_takes_no_place() -> None:
    async def main() -> list[str]:
        turns, seen = Turns(few=1), []

        async def begin(name: str) -> None:
            async with turns:
                seen.append(name)

        tasks = [asyncio.create_task(begin(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.wait(tasks)
        return seen

    assert clock.run(main()) == ["a", "c"]


def test_nothing_is_left_running_when_nobody_waits() -> None:
    async def main() -> float:
        async with Turns():
            pass
        await clock.sleep(3600.0)  # a loop that is kept busy never gets there
        return clock.now()

    assert clock.run(main()) == 3600.0

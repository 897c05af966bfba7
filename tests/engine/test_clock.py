"""The virtual clock: jumps, never waits, and knows when nothing can happen any more."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from engine import clock
from engine.errors import Stalled


def test_a_long_sleep_costs_no_wall_time() -> None:
    async def main() -> float:
        await clock.sleep(300.0)
        return clock.now()

    before = clock.wall_s()
    assert clock.run(main()) == pytest.approx(300.0)
    assert clock.wall_s() - before < 5.0


def test_timers_fire_in_order_of_their_time() -> None:
    seen: list[tuple[str, float]] = []

    async def at(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        seen.append((name, clock.now()))

    async def main() -> None:
        await asyncio.gather(at("b", 2.0), at("a", 1.0), at("c", 2.0))

    clock.run(main())
    assert [name for name, _ in seen] == ["a", "b", "c"]
    assert seen[0][1] < seen[1][1]


def test_a_sleep_of_a_hundred_years_ends() -> None:
    async def main() -> None:
        await clock.sleep(3.2e9)
        await clock.sleep(1e-9)

    clock.run(main())


def test_waiting_for_what_cannot_come_is_stalled_and_not_a_hang() -> None:
    async def main() -> None:
        await clock.sleep(1.5)
        await asyncio.Event().wait()

    with pytest.raises(Stalled, match=r"1\.5"):
        clock.run(main())


async def _returns() -> None:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


async def _fails() -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        raise ValueError("mine") from None


async def _waits_again() -> None:
    await _returns()
    await asyncio.Event().wait()


async def _sleeps_on() -> None:
    await _returns()
    await clock.sleep(1.0)


@pytest.mark.parametrize("after", [_returns, _fails, _waits_again, _sleeps_on])
def test_a_stall_is_told_whatever_the_main_task_makes_of_it(
    after: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    async def main() -> None:
        await clock.sleep(1.5)
        await after()

    with pytest.raises(Stalled, match=r"^stalled at 1\.500000 s of virtual time$"):
        clock.run(main())


def test_a_stall_still_cleans_up_the_other_tasks() -> None:
    cleaned: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("waits")

    async def main() -> None:
        task = asyncio.create_task(waits())
        await task

    with pytest.raises(Stalled):
        clock.run(main())
    assert cleaned == ["waits"]


def test_what_still_runs_at_the_end_is_cancelled_in_order_of_creation() -> None:
    # asyncio names a task by a number that goes on from run to run: no order of names will do
    names = ["b", None, "Task-1000000", "aa", None, "a", "Task-1"]
    cancelled: list[int] = []

    async def waits(number: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(number)

    async def main() -> None:
        tasks = [asyncio.create_task(waits(i), name=name) for i, name in enumerate(names)]
        await clock.sleep(1.0)
        assert len(tasks) == len(names)

    clock.run(main())
    assert cancelled == list(range(len(names)))


def test_errors_of_the_main_coroutine_pass_through() -> None:
    async def main() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        clock.run(main())


def test_runs_do_not_share_a_clock() -> None:
    async def main() -> float:
        await clock.sleep(5.0)
        return clock.now()

    assert clock.run(main()) == clock.run(main())


def test_a_timeout_fires_at_its_virtual_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(300.0):
                await asyncio.Event().wait()
        return clock.now()

    assert clock.run(main()) == pytest.approx(300.0)


def test_a_wall_clock_starts_at_nothing_and_really_passes() -> None:
    async def main() -> tuple[float, float, bool]:
        began = clock.now()
        await clock.sleep(0.02)
        return began, clock.now(), clock.is_virtual()

    before = clock.wall_s()
    began, ended, virtual = clock.run_wall(main())
    assert clock.wall_s() - before >= 0.02
    assert 0.0 <= began < 1.0 and ended - began >= 0.02
    assert not virtual


def test_by_a_wall_clock_too_waiting_for_what_cannot_come_is_stalled() -> None:
    async def main() -> None:
        await clock.sleep(0.001)
        await asyncio.Event().wait()

    with pytest.raises(Stalled, match=r"^stalled at 0\.\d+ s of wall time$"):
        clock.run_wall(main())


@pytest.mark.parametrize("run", [clock.run, clock.run_wall])
def test_somebody_may_give_up_before_a_timer_is_due(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_later(0.001, clock.stall, "nobody comes")
        await clock.sleep(1e6)

    with pytest.raises(Stalled, match=r"time: nobody comes$"):
        run(main())

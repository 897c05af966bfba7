"""The loop-lag monitor: what it reads, and what is said of a generator that is too slow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine import clock
from lab.bench_load.generator import plans
from lab.driver.lag import (
    Lag,
    Lateness,
    achieved_per_s,
    configured_per_s,
    warning,
    watching_lag,
)
from lab.records import Reply
from tests.lab.driver.servers import plans as conversations
from tests.lab.replies import said


def reply(session: int, **times: Any) -> Reply:
    return replace(said("yes"), session=session, **{"tries": 1, **times})


def test_late_wakings_are_ranked() -> None:
    async def main() -> Lag:
        lateness = Lateness()
        for ms in range(1, 101):
            lateness.note(ms / 1e3)
        return lateness.read()

    lag = clock.run(main())
    assert (lag.median_s, lag.p99_s, lag.worst_s, lag.samples) == (0.051, 0.1, 0.1, 100)


def test_a_waking_that_comes_early_is_not_late() -> None:
    async def main() -> Lag:
        lateness = Lateness()
        lateness.note(-1e-9)
        return lateness.read()

    assert clock.run(main()) == Lag(samples=1)


def test_a_loop_that_something_holds_up_is_late() -> None:
    async def main() -> Lag:
        async with watching_lag(period_s=0.001) as lateness:
            await clock.sleep(0.005)
            held = clock.wall_s()
            while clock.wall_s() - held < 0.05:
                pass
            await clock.sleep(0.005)
        return lateness.read()

    lag = clock.run_wall(main())
    assert lag.worst_s >= 0.04
    assert lag.late
    assert lag.cores > 0.0


def test_the_monitor_ends_with_its_block() -> None:
    async def main() -> int:
        async with watching_lag(period_s=0.001) as lateness:
            await clock.sleep(0.003)
        seen = lateness.read().samples
        await clock.sleep(0.01)
        return lateness.read().samples - seen

    assert clock.run_wall(main()) == 0


def test_under_the_virtual_clock_nothing_is_late() -> None:
    async def main() -> Lag:
        async with watching_lag() as lateness:
            await clock.sleep(3600.0)
        return lateness.read()

    assert clock.run(main()) == Lag()


def test_a_generator_that_keeps_up_is_not_warned_of() -> None:
    assert warning(Lag(p99_s=0.004, samples=50), 12.0, 12.0) is None


def test_a_generator_that_uses_a_core_is_the_bottleneck() -> None:
    late = Lag(p99_s=0.0816, worst_s=0.2, samples=50, cores=0.93)
    assert warning(late, 61.04, 61.0) == (
        "the load generator is the bottleneck: loop lag p99 82 ms, 93 % of a core, "
        "achieved 61.0 of 61.0 requests a second"
    )
    assert str(warning(late, 61.04)).endswith("achieved 61.0 requests a second")


def test_a_late_generator_that_falls_behind_its_arrivals_is_the_bottleneck() -> None:
    late = Lag(p99_s=0.0816, worst_s=0.2, samples=50, cores=0.3)
    assert "bottleneck" in str(warning(late, 94.0, 100.0))
    assert "bottleneck" not in str(warning(late, 96.0, 100.0))


def test_a_busy_machine_is_not_a_slow_generator() -> None:
    late = Lag(p99_s=0.0816, worst_s=0.2, samples=50, cores=0.3)
    told = "times include up to 200 ms of this machine's own delay"
    assert warning(late, 61.0) == told
    assert warning(late, 61.0, 61.0) == told


def test_a_rate_is_achieved_where_no_request_waited_for_a_seat() -> None:
    replies = [reply(0, sent_s=0.0, done_s=2.0), reply(1, sent_s=0.5, done_s=9.0)]
    assert achieved_per_s(replies, seats=3) == 2.0
    assert achieved_per_s(replies, seats=2) is None
    assert achieved_per_s(replies[:1], seats=3) is None


def test_the_rate_is_that_of_the_first_tries() -> None:
    again = reply(1, sent_s=4.0, done_s=5.0, first_sent_s=0.25, tries=2)
    assert achieved_per_s([reply(0, sent_s=0.0, done_s=0.1), again], seats=9) == 4.0


def test_a_rate_is_configured_where_each_arrival_is_one_request() -> None:
    assert configured_per_s(plans(5, rate=4.0)) == 4.0
    assert configured_per_s(plans(5, rate=0.0)) is None
    assert configured_per_s(plans(1, rate=4.0)) is None
    assert configured_per_s(conversations(sessions=3, turns=2, arrival_rate=4.0)) is None

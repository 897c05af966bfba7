"""Silence while something waits is told once; moving bytes and empty queues are no silence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import clock
from engine.disagg.ranks import Collective
from engine.disagg.watchdog import Watchdog
from engine.errors import Stalled
from engine.events import EventLog

LIMIT_S = 60.0
STUCK = ["rank 0 of decode waits", "room 7 waits for its pages"]


class Watched:
    """A watchdog, and what it is told."""

    def __init__(self, waiting: list[str] | None = None) -> None:
        self.waiting = STUCK if waiting is None else waiting
        self.busy = False
        self.events = EventLog(clock.now_ns)
        self.dog = Watchdog(LIMIT_S, lambda: self.waiting, lambda: self.busy, self.events)

    @property
    def told(self) -> list[tuple[float, dict[str, Any]]]:
        """When what was said, in seconds."""
        return [(e.at_ns / 1e9, e.fields) for e in self.events.events if e.kind == "no_progress"]

    def run(self, scene: Callable[[], Coroutine[Any, Any, None]]) -> float:
        """Play the scene until nothing can happen any more; when that is, in seconds."""

        async def main() -> None:
            await scene()
            await asyncio.Event().wait()

        with pytest.raises(Stalled) as stall:
            clock.run(main())
        return float(str(stall.value).split()[2])


def test_silence_is_told_with_who_waits_and_since_when() -> None:
    watched = Watched()

    async def scene() -> None:
        await clock.sleep(2.5)
        watched.dog.progress()

    watched.run(scene)
    ((at_s, fields),) = watched.told
    assert at_s == 62.5
    assert fields == {
        "since_ns": 2_500_000_000,
        "waiting": "rank 0 of decode waits; room 7 waits for its pages",
    }
    assert watched.events.counters == {"fault:no_progress": 1}


def test_it_is_told_once_and_the_clock_can_stall_after_it() -> None:
    watched = Watched()

    async def scene() -> None:
        watched.dog.progress()

    assert watched.run(scene) == LIMIT_S
    assert len(watched.told) == 1
    assert watched.dog.fired


def test_progress_begins_the_silence_anew() -> None:
    watched = Watched()

    async def scene() -> None:
        for _ in range(5):
            watched.dog.progress()
            await clock.sleep(LIMIT_S - 1.0)

    watched.run(scene)
    assert [at for at, _ in watched.told] == [4 * (LIMIT_S - 1.0) + LIMIT_S]


def test_after_new_progress_a_new_silence_is_told() -> None:
    watched = Watched()
    fired: list[bool] = []

    async def scene() -> None:
        for _ in range(2):
            watched.dog.progress()
            fired.append(watched.dog.fired)
            await clock.sleep(3 * LIMIT_S)

    watched.run(scene)
    assert [at for at, _ in watched.told] == [LIMIT_S, 4 * LIMIT_S]
    assert fired == [False, False]


def test_bytes_that_move_are_no_silence() -> None:
    watched = Watched()

    async def scene() -> None:
        watched.busy = True
        watched.dog.progress()
        await clock.sleep(2.5 * LIMIT_S)
        assert watched.told == []
        watched.busy = False

    watched.run(scene)
    assert [at for at, _ in watched.told] == [3 * LIMIT_S]


def test_where_nothing_waits_nothing_is_told_and_nothing_is_looked_at_again() -> None:
    watched = Watched(waiting=[])

    async def scene() -> None:
        watched.dog.progress()

    assert watched.run(scene) == LIMIT_S
    assert watched.told == []


def test_before_any_progress_there_is_no_timer() -> None:
    watched = Watched()

    async def scene() -> None:
        await clock.sleep(1.0)

    assert watched.run(scene) == 1.0


def test_who_arrives_behind_others_that_wait_does_not_hide_that_they_are_stuck() -> None:
    watched = Watched()

    async def scene() -> None:
        watched.dog.progress()
        for _ in range(20):
            await clock.sleep(LIMIT_S / 4)
            watched.dog.arriving()

    watched.run(scene)
    ((at_s, fields),) = watched.told
    assert (at_s, fields["since_ns"]) == (LIMIT_S, 0)
    assert watched.dog.fired


def test_who_arrives_where_nobody_waits_is_given_the_whole_limit() -> None:
    watched = Watched(waiting=[])

    async def scene() -> None:
        watched.dog.progress()
        await clock.sleep(LIMIT_S - 1.0)
        watched.dog.arriving()
        watched.waiting = STUCK

    watched.run(scene)
    assert [at for at, _ in watched.told] == [2 * LIMIT_S - 1.0]


def test_after_stop_it_says_nothing_whatever_comes() -> None:
    watched = Watched()

    async def scene() -> None:
        watched.dog.progress()
        watched.dog.stop()
        watched.dog.progress()

    assert watched.run(scene) == 0.0
    assert watched.told == []


def test_a_rank_that_waits_for_another_is_named() -> None:
    events = EventLog(clock.now_ns)
    ranks = Collective("decode", 2, events)
    dog = Watchdog(LIMIT_S, ranks.waiting, lambda: False, events)

    async def main() -> None:
        dog.progress()
        await ranks.all_reduce_min(0, "poll", [4])

    with pytest.raises(Stalled, match=r"60\.000000 s"):
        clock.run(main())
    (told,) = events.events
    assert told.fields["waiting"] == (
        "rank 0 of decode waits in poll #1 since 0.000 s for "
        "rank 1, which has not come (it never called)"
    )


PAUSES = st.floats(0.001, 200.0).filter(lambda pause: abs(pause - LIMIT_S) > 1e-6)


@given(st.lists(PAUSES, max_size=12))
def test_every_silence_of_the_limit_is_told_once_and_no_shorter_one(pauses: list[float]) -> None:
    watched = Watched()

    async def scene() -> None:
        watched.dog.progress()
        for pause in pauses:
            await clock.sleep(pause)
            watched.dog.progress()

    watched.run(scene)
    assert len(watched.told) == 1 + sum(pause >= LIMIT_S for pause in pauses)

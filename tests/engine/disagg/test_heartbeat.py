"""The other side is asked while it matters, and is dead after two misses in a row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from engine import clock
from engine.disagg.heartbeat import Heartbeat
from engine.errors import Stalled


class Patient:
    """Another side: when it was asked, whether it answers, and when it was declared dead."""

    def __init__(self, answers: Callable[[float], bool]) -> None:
        self.needed = True
        self.asked: list[float] = []
        self.dead: list[float] = []
        self._answers = answers
        self.heart = Heartbeat(self._alive, lambda: self.needed, self._died)

    def run(self, needed_until_s: float = 1e9, opened: int = 1) -> float:
        """Open rooms, and go on until nothing can happen any more; when that is, in seconds."""

        async def main() -> None:
            for _ in range(opened):
                self.heart.start()
            if needed_until_s < 1e9:
                await clock.sleep(needed_until_s)
                self.needed = False
            await asyncio.Event().wait()

        with pytest.raises(Stalled) as stall:
            clock.run(main())
        return float(str(stall.value).split()[2])

    def _alive(self) -> bool:
        self.asked.append(clock.now())
        return self._answers(clock.now())

    def _died(self) -> None:
        self.dead.append(clock.now())


def test_two_misses_in_a_row_are_death_and_the_last_question() -> None:
    patient = Patient(lambda now: now < 12.0)
    assert patient.run() == 20.0
    assert patient.asked == [5.0, 10.0, 15.0, 20.0]
    assert patient.dead == [20.0]


def test_one_miss_is_none() -> None:
    patient = Patient(lambda now: now % 10 == 0)
    patient.run(needed_until_s=42.0)
    assert patient.dead == []


def test_a_heart_that_nobody_needs_lets_time_end() -> None:
    patient = Patient(lambda _: True)
    assert patient.run(needed_until_s=12.0) == 15.0
    assert patient.asked == [5.0, 10.0]


def test_every_further_room_asks_no_more_often() -> None:
    patient = Patient(lambda _: True)
    patient.run(needed_until_s=11.0, opened=3)
    assert patient.asked == [5.0, 10.0]


def test_a_room_that_opens_later_starts_it_again_with_no_misses_counted() -> None:
    patient = Patient(lambda _: False)

    async def main() -> None:
        patient.heart.start()
        await clock.sleep(7.0)  # one miss
        patient.needed = False
        await clock.sleep(7.0)
        patient.needed = True
        patient.heart.start()
        await clock.sleep(60.0)

    clock.run(main())
    assert patient.dead == [24.0]


def test_after_stop_nothing_is_asked() -> None:
    patient = Patient(lambda _: False)

    async def main() -> None:
        patient.heart.start()
        await clock.sleep(6.0)
        patient.heart.stop()
        await clock.sleep(60.0)

    clock.run(main())
    assert patient.asked == [5.0]


def test_without_a_room_nothing_is_asked() -> None:
    patient = Patient(lambda _: True)
    assert patient.run(opened=0) == 0.0

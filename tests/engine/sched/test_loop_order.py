"""A step's inputs are fixed at its launch, its work is done when it is awaited; in between, under
overlap, the step before is processed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

import pytest

from engine.request import Request
from engine.sched.batch import Batch
from engine.sched.overlap import NormalLoop, OverlapLoop
from tests.engine.sched.fakes import Bench, prompt
from tests.engine.sched.test_scheduler import LONG


class Told:
    """A loop over a real scheduler that tells what it does, in order."""

    def __init__(self, order: type[NormalLoop] | type[OverlapLoop]) -> None:
        self.bench = Bench()
        self.story: list[str] = []
        self.loop = order(self.bench.sched, self.run, self.deliver)

    def run(self, batch: Batch) -> Awaitable[Sequence[int]]:
        self.story.append("launch")
        return self.work(batch)

    async def work(self, batch: Batch) -> Sequence[int]:
        self.story.append("work")
        return [1] * len(batch.sampled)

    def deliver(self, heard: list[Request]) -> None:
        self.story.append("process")

    def step(self) -> bool:
        turn = self.loop.step()
        with pytest.raises(StopIteration) as end:
            turn.send(None)
        return bool(end.value.value)


def test_a_step_is_launched_done_and_processed() -> None:
    told = Told(NormalLoop)
    told.bench.add(prompt(LONG, 300), max_tokens=2)
    while told.step():
        pass
    assert told.story == ["launch", "work", "process"] * 2


def test_under_overlap_a_step_is_processed_between_the_launch_and_the_work_of_the_next() -> None:
    told = Told(OverlapLoop)
    told.bench.add(prompt(LONG, 300), max_tokens=2)
    while told.step():
        pass
    two = ["launch", "work", "launch", "process", "work"]
    # the row runs once more before its end is seen
    assert told.story == [*two, "launch", "process", "work", "process"]


def test_an_idle_loop_does_nothing() -> None:
    for order in (NormalLoop, OverlapLoop):
        told = Told(order)
        assert not told.step()
        assert told.story == []

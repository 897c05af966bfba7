"""Each of the scheduler's seams, answered wrongly, does the damage that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.sched.questions import AfterLastStep, AsScheduled, OnceWritten, Questions
from tests.engine.sched.fakes import Bench, check_replies, prompt
from tests.engine.sched.test_scheduler import SHORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.request import Request
    from engine.sched.batch import Batch, Chunk


class PublishedAtAdmission(OnceWritten):
    def before_run(self, chunk: Chunk) -> int:
        return chunk.req.n_tokens


class ReleasedAtOnce(AfterLastStep):
    def releasable(self, req: Request) -> bool:
        return True


class RowAsOfNow(AsScheduled):
    def owner(self, batch: Batch, row: int, running: Sequence[Request]) -> Request:
        return running[row] if row < len(running) else batch.sampled[row]


def test_a_prefix_published_before_its_write_is_read_unwritten() -> None:
    bench = Bench(questions=Questions(publication=PublishedAtAdmission()))
    first = bench.add(prompt(1, 1500))
    bench.step()
    bench.sched.abort(first)
    assert bench.sched.check() == []
    bench.add(prompt(1, 1500))
    with pytest.raises(KeyError):  # the fake model's memory has no such slot
        bench.drain()


def test_pages_released_at_once_are_free_while_a_step_holds_them() -> None:
    bench = Bench(overlap=True, questions=Questions(reuse=ReleasedAtOnce()))
    req = bench.add(prompt(SHORT, 300))
    while not req.done:
        bench.step()
    assert (req.inflight, req.pages) == (1, [])
    bench.drain()


def test_a_token_given_to_the_row_as_of_now_reaches_a_neighbour() -> None:
    bench = Bench(overlap=True, pages=30, questions=Questions(rows=RowAsOfNow()))
    for seed in (SHORT, 1, 2):
        bench.add(prompt(seed, 300), max_tokens=50)
    bench.drain()
    with pytest.raises(AssertionError):
        check_replies(bench)

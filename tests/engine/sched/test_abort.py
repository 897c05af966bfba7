"""An abort at any moment gives everything back exactly once."""

from __future__ import annotations

import pytest

from engine.request import Status
from tests.engine.sched.fakes import Bench, check_idle, check_replies, prompt
from tests.engine.sched.test_scheduler import BOTH, LONG


@BOTH
@pytest.mark.parametrize("steps", range(8))
@pytest.mark.parametrize("inside", [False, True], ids=["between steps", "in flight"])
def test_an_abort_after_any_number_of_steps(overlap: bool, steps: int, inside: bool) -> None:
    bench = Bench(overlap=overlap)
    req = bench.add(prompt(LONG, 1100))
    bystander = bench.add(prompt(LONG, 300))
    for _ in range(steps):
        bench.step()
    abort = lambda: bench.sched.abort(req)  # noqa: E731
    if inside:
        bench.step(abort)
    abort()
    assert (req.status, req.finish_reason) == (Status.ABORTED, "abort")
    bench.drain()
    assert bystander.status is Status.FINISHED
    check_replies(bench)
    check_idle(bench)


def test_a_request_aborted_while_it_waits_never_runs() -> None:
    bench = Bench()
    req = bench.add(prompt(1, 300))
    bench.sched.abort(req)
    assert bench.sched.next_batch() is None
    assert bench.count("aborts_in_flight") == 0


def test_an_abort_in_flight_is_counted_and_defers_the_release() -> None:
    bench = Bench()
    req = bench.add(prompt(1, 300))
    held: list[int] = []

    def abort() -> None:
        bench.sched.abort(req)
        held.extend(req.pages)

    bench.step(abort)
    assert len(held) == 2
    assert req.pages == []
    assert bench.count("aborts_in_flight") == bench.count("deferred_releases") == 1


def test_a_page_filled_by_the_step_in_flight_is_published_once_it_has_run() -> None:
    bench = Bench(overlap=True)
    req = bench.add(prompt(LONG, 510))
    bench.step()
    bench.step()
    # row 511 is written by this step, from the token that the step before sampled: both are known
    bench.step(lambda: bench.sched.abort(req))
    assert bench.cache is not None
    assert bench.cache.cached_pages == 1
    bench.drain()
    assert bench.cache.cached_pages == 2
    check_idle(bench)


def test_an_abort_of_a_finished_request_changes_nothing() -> None:
    bench = Bench()
    req = bench.add(prompt(LONG, 300))
    bench.drain()
    bench.sched.abort(req)
    assert req.finish_reason == "length"
    check_idle(bench)


def test_an_abort_of_the_head_lets_the_next_one_in() -> None:
    bench = Bench(pages=6)
    bench.add(prompt(LONG, 1000), max_tokens=100)
    big, small = bench.add(prompt(2, 1000)), bench.add(prompt(3, 10))
    for _ in range(3):
        bench.step()
    bench.sched.abort(big)
    bench.step()
    assert small.status is Status.RUNNING

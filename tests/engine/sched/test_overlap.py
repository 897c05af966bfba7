"""One step ahead: what a row that ended in the step before leaves behind."""

from __future__ import annotations

from engine.request import Status
from engine.sched.batch import DecodeBatch
from tests.engine.sched.fakes import Bench, check_idle, check_replies, prompt
from tests.engine.sched.test_scheduler import SHORT


def test_tokens_are_processed_one_step_late() -> None:
    bench = Bench(overlap=True)
    req = bench.add(prompt(SHORT, 300))
    seen = []
    for _ in range(3):
        bench.step()
        seen.append(len(req.output))
    assert seen == [0, 1, 2]


def test_a_row_that_ended_runs_once_more_and_its_token_is_discarded() -> None:
    bench = Bench(overlap=True)
    req = bench.add(prompt(SHORT, 300))
    while not req.done:
        bench.step()
    last = bench.model.batches[-1]
    assert isinstance(last, DecodeBatch)
    assert (last.reqs, req.inflight, len(req.pages)) == ([req], 1, 2)
    assert bench.step()
    assert (req.inflight, req.pages) == (0, [])
    assert bench.count("discarded_tokens") == bench.count("deferred_releases") == 1
    assert not bench.step()
    check_idle(bench)


def test_a_row_reads_the_token_in_flight() -> None:
    bench = Bench(overlap=True)
    bench.add(prompt(SHORT, 300))
    bench.step()
    bench.step()
    last = bench.model.batches[-1]
    assert isinstance(last, DecodeBatch)
    assert last.seq_lens == [301]  # its last token, number 300, was sampled by the step before


def test_neighbours_keep_their_own_tokens_when_a_row_leaves() -> None:
    bench = Bench(overlap=True, pages=30)
    for seed in (SHORT, 1, 2):
        bench.add(prompt(seed, 300), max_tokens=50)
    bench.drain()
    assert all(req.status is Status.FINISHED for req in bench.requests)
    check_replies(bench)

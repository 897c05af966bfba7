"""A finished prompt decodes once its latents have arrived on the host, and may end before that."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from engine.request import Request, Status
from engine.sched.batch import DecodeBatch, PrefillBatch
from engine.sched.scheduler import Scheduler
from tests.engine.sched.fakes import Bench, check_idle, check_replies, prompt
from tests.engine.sched.test_scheduler import BOTH, LONG


class FakeStaging:
    """Copies that arrive when the test says so."""

    def __init__(self) -> None:
        self.started: list[tuple[Request, list[int]]] = []
        self.arrived: list[list[int]] = []

    def stage(self, req: Request) -> None:
        assert req.pages
        self.started.append((req, req.pages))

    def ready(self, req: Request) -> bool:
        return any(pages is req.pages for pages in self.arrived)

    def arrive(self) -> bool:
        """Let everything arrive that was started; whether there was anything."""
        coming, self.started = self.started, []
        self.arrived += [pages for _, pages in coming]
        return bool(coming)

    @property
    def staged(self) -> list[int]:
        return [req.id for req, _ in self.started]


@dataclass
class StagedBench(Bench):
    """A bench whose prompts go by way of the host."""

    staging: FakeStaging = field(default_factory=FakeStaging)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sched = Scheduler(
            self.limits, self.pool, self.cache, self.events, self.questions, staging=self.staging
        )
        self.loop = type(self.loop)(self.sched, self.model.run)  # type: ignore[call-arg]

    def drain(self) -> None:
        while self.step() or self.staging.arrive():
            assert self.sched.check() == []
        assert self.sched.idle

    def prefilled(self, *lengths: int, max_tokens: int = 20) -> list[Request]:
        """Requests whose prompts have run and whose first tokens are there."""
        reqs = [self.add(prompt(LONG + i, n), max_tokens) for i, n in enumerate(lengths)]
        while not all(req.output for req in reqs):
            assert self.step()
        return reqs


def test_a_prompt_is_staged_when_its_last_chunk_has_run() -> None:
    bench = StagedBench(chunked_prefill=512)
    req = bench.add(prompt(LONG, 600))
    bench.step()
    assert bench.staging.staged == []
    bench.step()
    assert bench.staging.staged == [req.id]


@BOTH
def test_a_staged_request_does_not_decode(overlap: bool) -> None:
    bench = StagedBench(overlap=overlap)
    [req] = bench.prefilled(300)
    assert (bench.sched.staged, bench.sched.running) == ([req], [])
    assert not bench.step()
    assert len(req.output) == 1
    assert not bench.sched.idle


@BOTH
def test_a_request_whose_latents_have_arrived_is_a_row_of_the_next_step(overlap: bool) -> None:
    bench = StagedBench(overlap=overlap)
    [req] = bench.prefilled(300)
    bench.staging.arrive()
    bench.step()
    last = bench.model.batches[-1]
    assert isinstance(last, DecodeBatch)
    assert last.reqs == bench.sched.running == [req]
    assert bench.sched.staged == []


def test_others_decode_while_one_is_staged() -> None:
    bench = StagedBench()
    [first] = bench.prefilled(300)
    bench.staging.arrive()
    bench.step()
    [second] = bench.prefilled(200)
    before = len(first.output)
    bench.step()
    assert (len(first.output), len(second.output)) == (before + 1, 1)


@BOTH
def test_staged_requests_get_their_replies(overlap: bool) -> None:
    bench = StagedBench(overlap=overlap, pages=30)
    for i, length in enumerate((300, 255, 256, 700)):
        bench.add(prompt(i, length), 40)
    bench.drain()
    assert all(req.status is Status.FINISHED for req in bench.requests)
    check_replies(bench)
    check_idle(bench)


@BOTH
def test_a_reply_of_one_token_is_never_a_row(overlap: bool) -> None:
    bench = StagedBench(overlap=overlap)
    req = bench.add(prompt(LONG, 300), max_tokens=1)
    bench.drain()
    assert req.finish_reason == "length"
    assert all(isinstance(batch, PrefillBatch) for batch in bench.model.batches)
    check_idle(bench)


@BOTH
def test_an_abort_while_staged_gives_everything_back(overlap: bool) -> None:
    bench = StagedBench(overlap=overlap)
    [req] = bench.prefilled(300)
    bench.sched.abort(req)
    assert (req.status, req.pages, bench.sched.staged) == (Status.ABORTED, [], [])
    bench.drain()
    check_idle(bench)


@BOTH
def test_an_abort_inside_the_step_that_ends_the_prompt_stages_nothing(overlap: bool) -> None:
    bench = StagedBench(overlap=overlap)
    req = bench.add(prompt(LONG, 300))
    bench.step(lambda: bench.sched.abort(req))
    bench.drain()
    assert bench.staging.arrived == []
    check_idle(bench)


def test_the_copy_of_an_aborted_request_says_nothing_of_the_next_one() -> None:
    bench = StagedBench(pages=2)
    [first] = bench.prefilled(300)
    bench.sched.abort(first)
    [second] = bench.prefilled(300)
    [(_, pages), _] = bench.staging.started
    bench.staging.arrived.append(pages)  # the copy of the first one, and it alone
    assert not bench.step()
    assert bench.sched.staged == [second]


def test_a_staged_request_holds_its_slot() -> None:
    bench = StagedBench(max_running=2, pages=30)
    bench.prefilled(300, 200)
    third = bench.add(prompt(1, 100))
    assert not bench.step()
    assert third.status is Status.WAITING
    bench.drain()
    check_replies(bench)


def test_a_retracted_request_leaves_room_for_those_who_are_staged_to_grow() -> None:
    bench = StagedBench(pages=6, radix=False)
    [row] = bench.prefilled(510, max_tokens=200)
    bench.staging.arrive()
    bench.step()
    _, small = bench.prefilled(600, 100)
    while row in bench.sched.running:
        bench.step()
    bench.sched.abort(small)
    assert bench.pool.available == 3  # what the row needs, and no more
    assert not bench.step()
    assert row.status is Status.WAITING
    bench.drain()
    check_replies(bench)


def test_a_row_that_is_retracted_beside_a_staged_request_starts_again() -> None:
    bench = StagedBench(pages=5, radix=False)
    [row] = bench.prefilled(510, max_tokens=200)
    bench.staging.arrive()
    bench.step()
    [staged] = bench.prefilled(600, max_tokens=20)
    while row in bench.sched.running:  # its next page is not to be had
        bench.step()
    assert (row.status, bench.sched.staged) == (Status.WAITING, [staged])
    bench.drain()
    assert bench.count("retractions") >= 1
    check_replies(bench)
    check_idle(bench)


def test_a_retracted_request_is_staged_anew() -> None:
    bench = StagedBench(pages=5, radix=False)
    [row] = bench.prefilled(510, max_tokens=200)
    bench.staging.arrive()
    bench.step()
    bench.prefilled(600, max_tokens=20)
    bench.drain()
    assert sum(len(b.sampled) for b in bench.model.batches if isinstance(b, PrefillBatch)) == 3
    assert len(bench.staging.arrived) == 3
    assert row.status is Status.FINISHED


def play(seed: int, overlap: bool) -> StagedBench:
    """Twenty requests on a tight pool; copies arrive and requests leave at random."""
    rng = random.Random(seed)
    bench = StagedBench(rng.randint(5, 9), 4, 512, rng.random() < 0.7, overlap, "random")
    due = 20
    while due or not bench.sched.idle:
        if due and rng.random() < 0.3:
            due -= 1
            bench.add(prompt(rng.randrange(4), rng.randint(1, 800)), rng.randint(1, 200))
        if rng.random() < 0.2 or not due:
            bench.staging.arrive()
        if bench.sched.staged and rng.random() < 0.02:
            bench.events.count("aborts_while_staged")
            bench.sched.abort(rng.choice(bench.sched.staged))

        def inside() -> None:
            if rng.random() < 0.02:
                bench.sched.abort(rng.choice(bench.requests))

        bench.step(inside if bench.requests else None)
        assert bench.sched.check() == []
    bench.drain()
    return bench


@BOTH
def test_random_schedules_conserve_pages_and_replies(overlap: bool) -> None:
    benches = [play(seed, overlap) for seed in range(6)]
    for bench in benches:
        check_replies(bench)
        check_idle(bench)
    for name in ("retractions", "aborts_in_flight", "aborts_while_staged", "prefix_hits"):
        assert sum(bench.count(name) for bench in benches), name

"""Random schedules on tiny pools, in both orders: no page has two owners, no reply is wrong."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.errors import RequestRefused
from tests.engine.sched.fakes import Bench, check_idle, check_replies, prompt

LENGTHS = st.sampled_from([1, 255, 256, 257, 500, 511, 512, 513, 767, 800])


class Schedules(RuleBasedStateMachine):
    """Arrivals and aborts between steps and inside them."""

    @initialize(
        pages=st.integers(4, 9),
        rows=st.integers(1, 4),
        chunk=st.sampled_from([256, 512, 1024]),
        radix=st.booleans(),
        overlap=st.booleans(),
        order=st.sampled_from(["lifo", "fifo", "random"]),
    )
    def start(
        self, pages: int, rows: int, chunk: int, radix: bool, overlap: bool, order: Any
    ) -> None:
        self.bench = Bench(pages, rows, chunk, radix, overlap, order)
        self.turn: Any = None  # a step in flight

    @rule(seed=st.integers(0, 2), length=LENGTHS, tail=st.integers(0, 2), most=st.integers(1, 300))
    def add(self, seed: int, length: int, tail: int, most: int) -> None:
        try:
            self.bench.add([*prompt(seed, length), *prompt(99 + tail, tail)], most)
        except RequestRefused:
            assert length + tail + most > self.bench.pages * 256

    @precondition(lambda self: self.bench.requests)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        self.bench.sched.abort(data.draw(st.sampled_from(self.bench.requests)))

    @precondition(lambda self: self.turn is None)
    @rule()
    def launch(self) -> None:
        self.turn = self.bench.loop.step()
        self._resume()

    @precondition(lambda self: self.turn is not None)
    @rule()
    def land(self) -> None:
        self._resume()

    @rule(steps=st.integers(1, 60))
    def run(self, steps: int) -> None:
        self._land_all()
        for _ in range(steps):
            self.bench.step()

    @invariant()
    def every_page_has_one_owner(self) -> None:
        assert self.bench.sched.check() == []

    def teardown(self) -> None:
        if not hasattr(self, "bench"):
            return
        self._land_all()
        self.bench.drain()
        assert all(req.done for req in self.bench.requests)
        check_replies(self.bench)
        check_idle(self.bench)

    def _resume(self) -> None:
        try:
            self.turn.send(None)
        except StopIteration:
            self.turn = None

    def _land_all(self) -> None:
        while self.turn is not None:
            self._resume()


TestSchedules = Schedules.TestCase
TestSchedules.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def play(seed: int, overlap: bool) -> Bench:
    """Forty requests of a few shared prefixes, arriving and aborted at random, on a tight pool."""
    rng = random.Random(seed)
    bench = Bench(rng.randint(6, 12), 6, 512, rng.random() < 0.8, overlap, "random")
    due = 40
    while due or not bench.sched.idle:
        if due and rng.random() < 0.3:
            due -= 1
            bench.add(prompt(rng.randrange(5), rng.randint(1, 900)), rng.randint(1, 300))

        def inside() -> None:
            if rng.random() < 0.02:
                bench.sched.abort(rng.choice(bench.requests))

        bench.step(inside if bench.requests else None)
        assert bench.sched.check() == []
    return bench


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_a_tight_pool_under_load_conserves_pages_and_replies(overlap: bool) -> None:
    benches = [play(seed, overlap) for seed in range(3)]
    for bench in benches:
        bench.drain()
        check_replies(bench)
        check_idle(bench)
    for name in ("retractions", "evicted_pages", "prefix_hits", "aborts_in_flight"):
        assert sum(bench.count(name) for bench in benches), name


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_one_seed_gives_one_history(overlap: bool) -> None:
    digests = [play(seed, overlap).events.digest() for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]

"""The scheduler over two tiers: replies stay right, and a damaged cache never ends a run."""

from __future__ import annotations

import random
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import get_args

import pytest

from engine.cache.hicache import HiCacheController
from engine.cache.hiradix import HiRadixCache
from engine.cache.questions import CacheQuestions
from engine.cache.write_policy import Name
from engine.config import PAGE_TOKENS
from engine.defects.backup_races_compute import OnceLaunched
from engine.defects.evicted_though_backup_failed import EvictedAnyway
from engine.defects.eviction_between_lookup_and_pin import PinnedLast
from engine.defects.host_page_reused_before_load_ack import OnceOnTheDevice
from engine.defects.load_into_page_in_use import IntoItsFormerPages
from engine.defects.publish_before_write import OnceScheduled
from engine.events import EventLog
from engine.pools.allocator import PageAllocator
from engine.request import Request
from engine.sched.batch import Batch, Chunk, PrefillBatch
from engine.sched.limits import Limits
from engine.sched.overlap import Loop, NormalLoop, OverlapLoop
from engine.sched.questions import Questions
from engine.sched.scheduler import Scheduler
from engine.streams import Streams
from tests.engine.cache.two_tiers import LAYERS, Content, FakeTier, Memory
from tests.engine.sched.fakes import (
    Bench,
    FakeModel,
    check_idle,
    check_replies,
    prompt,
)

POLICIES = get_args(Name)
LENGTHS = [255, 256, 257, 511, 512, 513, 800, 1100]
PART = PAGE_TOKENS // LAYERS


class Slots(Memory):
    """The fake model's memory as pages: layer i of a page is its i-th quarter of slots."""

    def __init__(self, kv: dict[int, int]) -> None:
        self.kv = kv

    def read(self, page: int) -> Content:
        first = page * PAGE_TOKENS
        starts = range(first, first + PAGE_TOKENS, PART)
        return [tuple(self.kv.get(at, -1) for at in range(a, a + PART)) for a in starts]

    def write(self, page: int, layer: int, part: object) -> None:
        first = page * PAGE_TOKENS + layer * PART
        values = part if isinstance(part, tuple) else (-1,) * PART
        self.kv.update(zip(range(first, first + PART), values, strict=True))


@dataclass
class LazyModel(FakeModel):
    """Works when it is awaited, as the engine does: a step behind is processed before."""

    lenient: bool = False
    land: object = None

    def run(self, batch: Batch) -> Awaitable[list[int]]:
        return self._later(batch)

    async def _later(self, batch: Batch) -> list[int]:
        assert callable(self.land)
        self.land(batch.load if isinstance(batch, PrefillBatch) else -1)
        sampled = await super().run(batch)
        return sampled

    def _prefill(self, chunk: Chunk) -> list[int]:
        if not self.lenient:
            return super()._prefill(chunk)
        req, start, end, last = chunk
        self.kv.update({req.slot(at): req.tokens[at] for at in range(start, end)})
        return [self._sample(req, end)] if last else []

    def _read(self, req, length):  # type: ignore[no-untyped-def]
        return [self.kv.get(req.slot(at), -1) for at in range(length)]


@dataclass
class HostBench(Bench):
    """A bench whose prefix cache has a host tier."""

    policy: Name = "write_through"
    host_pages: int = 16
    ask: CacheQuestions = field(default_factory=CacheQuestions)
    lenient: bool = False
    pages_per_s: float = 4.0

    def __post_init__(self) -> None:
        self.now = 0.0
        self.events = EventLog(lambda: 0)
        self.pool = PageAllocator(self.pages, self.order, random.Random(0))
        self.model = LazyModel(lenient=self.lenient, land=self.reach)
        self.tier = FakeTier(self.host_pages, Slots(self.model.kv))
        self.streams = Streams(self.pages_per_s, lambda: self.now)
        self.control = HiCacheController(
            self.tier, self.streams, self.events, lambda: self.now, self.ask.backup_start
        )
        self.cache = HiRadixCache(
            PAGE_TOKENS, self.pool, self.control, self.tier, self.ask, self.policy, self.events
        )
        self.limits = Limits(self.max_running, self.chunked_prefill)
        self.sched = Scheduler(self.limits, self.pool, self.cache, self.events, self.questions)
        order = OverlapLoop if self.overlap else NormalLoop
        self.loop: Loop = order(self.sched, self.model.run)
        self.requests = []

    def reach(self, producer: int) -> None:
        """A step's way through its layers; it writes when it has passed them all."""
        for layer in range(LAYERS):
            arrives = self.control.layer_done.wait_until(producer, layer)
            self.streams.land(max(self.now + 0.04 * layer, arrives))

    def step(self, inside: object = None) -> bool:
        """One turn; where there is nothing to do, wait for a copy."""
        moved = super().step(inside)
        wait_s = self.streams.wait_s()
        if not moved and wait_s is None:
            return False
        self.now += 0.2 if moved else wait_s or 0.0
        self.streams.land(self.now)
        return True


def play(bench: HostBench, seed: int, check: bool = True) -> HostBench:
    """Prompts of a few shared prefixes come and are aborted; then the pool drains."""
    rng = random.Random(seed)
    due = 30
    while due or not bench.sched.idle:
        if due and rng.random() < 0.4:
            due -= 1
            bench.add(prompt(rng.randrange(6), rng.choice(LENGTHS)), rng.choice([1, 5, 40, 280]))

        def inside() -> None:
            if rng.random() < 0.02:
                bench.sched.abort(rng.choice(bench.requests))

        bench.step(inside if bench.requests else None)
        assert not check or bench.sched.check() == []
    while bench.step():
        pass
    bench.cache.poll()
    return bench


def bench_of(seed: int, policy: Name, overlap: bool, **more: object) -> HostBench:
    rng = random.Random(f"{policy} {seed}")
    fixed = {"pages": rng.randint(7, 12), "host_pages": rng.randint(6, 20)}
    rate = rng.choice([1.0, 4.0, 100.0])
    return HostBench(**fixed, policy=policy, overlap=overlap, pages_per_s=rate, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
@pytest.mark.parametrize("policy", POLICIES)
def test_replies_are_right_and_pages_conserved(policy: Name, overlap: bool) -> None:
    benches = [play(bench_of(seed, policy, overlap), seed) for seed in range(6)]
    for bench in benches:
        check_replies(bench)
        check_idle(bench)
        assert bench.control.idle and bench.tier.changed == []
    for name in ("pages_restored", "pages_backed_up", "evicted_pages", "aborts_in_flight"):
        assert sum(bench.count(name) for bench in benches), name


def copied_after(bench: HostBench, tokens: list[int]) -> int:
    """Pages on the host or on their way, once the cached prefix of ``tokens`` is offered again."""
    match = bench.cache.match(tokens)
    bench.cache.insert(tokens[: len(match.pages) * PAGE_TOKENS], match.pages)
    return sum(len(node.host) for node in bench.cache._walk())


def served_once() -> tuple[HostBench, list[int]]:
    """A prefix of three pages that one request used, and a longer prompt that starts with it."""
    bench = HostBench(policy="write_through_selective")
    bench.add(prompt(1, 800), 1)
    bench.drain()
    return bench, prompt(1, 1100)


def test_an_admission_that_is_refused_is_no_use_of_the_prefix() -> None:
    bench, tokens = served_once()
    for _ in range(5):
        assert not bench.sched.holdings.acquire(Request(9, tokens, 1), spare=99)
    assert copied_after(bench, tokens) == 0


def test_an_admission_that_holds_is_a_use_of_the_prefix() -> None:
    bench, tokens = served_once()
    assert bench.sched.holdings.acquire(Request(9, tokens, 1))
    assert copied_after(bench, tokens) == 3


def test_a_retracted_request_that_finds_its_own_pages_is_no_use_of_the_prefix() -> None:
    bench, tokens = served_once()
    retracted = Request(9, tokens, 5, output=[7])
    assert bench.sched.holdings.acquire(retracted)
    assert copied_after(bench, tokens) == 0


WRONG = {
    "backup_races_compute": (CacheQuestions(backup_start=OnceLaunched()), None),
    "evicted_though_backup_failed": (CacheQuestions(backup_refusal=EvictedAnyway()), None),
    "host_page_reused_before_load_ack": (CacheQuestions(host_reuse=OnceOnTheDevice()), None),
    "load_into_page_in_use": (CacheQuestions(load_target=IntoItsFormerPages()), None),
    "eviction_between_lookup_and_pin": (CacheQuestions(), Questions(pin=PinnedLast())),
    "publish_before_write": (CacheQuestions(), Questions(publication=OnceScheduled())),
}


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", WRONG)
def test_a_damaged_cache_serves_on(name: str, policy: Name, overlap: bool) -> None:
    ask, questions = WRONG[name]
    for seed in range(2):
        bench = bench_of(seed, policy, overlap, ask=ask, questions=questions, lenient=True)
        play(bench, seed, check=False)
        assert bench.sched.idle and bench.control.idle

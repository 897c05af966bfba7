"""A thousand random schedules over two tiny tiers: nothing is lost, nothing reads wrong."""

from __future__ import annotations

import random
from typing import get_args

import pytest

from engine.cache.write_policy import Name
from tests.engine.cache.two_tiers import Step, World

POLICIES = get_args(Name)
SCHEDULES = 1000


class Schedule:
    """Random turns of an engine's loop, in either order, with evictions and aborts between."""

    def __init__(self, seed: int, policy: Name) -> None:
        self.rng = random.Random(f"{policy} {seed}")
        self.overlap = self.rng.random() < 0.5
        rate = self.rng.choice([0.5, 3.0, 1000.0])
        pages, host = self.rng.randint(5, 10), self.rng.randint(1, 16)
        self.world = World(pages, host, policy, pages_per_s=rate)
        self.behind: Step | None = None

    def run(self, turns: int) -> World:
        for _ in range(turns):
            rule = self.rng.choice([self.turn, self.turn, self.release, self.evict, self.wait])
            rule()
            self.world.check()
        self.drain()
        return self.world

    def turn(self) -> None:
        self.world.cache.poll()
        coming = [self.world.admit(self.prefix()) for _ in range(self.rng.randint(0, 2))]
        readers = [reader for reader in coming if reader is not None]
        step = self.world.launch(readers) if readers else None
        if self.overlap:
            self.finish()
        if step is not None:
            if self.overlap and self.rng.random() < 0.5:
                self.world.publish(self.rng.choice(step.readers))  # before its step has written
            self.world.work(step)
            self.world.check()
        self.behind = step
        self.world.pass_time(self.rng.choice([0.1, 1.0, 5.0]))
        if self.rng.random() < 0.2:
            self.abort()
        if not self.overlap:
            self.finish()

    def finish(self) -> None:
        if self.behind is not None:
            self.world.finish(self.behind)
        self.behind = None

    def abort(self) -> None:
        for reader in self.behind.readers if self.behind is not None else []:
            reader.aborted = self.rng.random() < 0.5

    def release(self) -> None:
        idle = [reader for reader in self.world.readers if not reader.stepping]
        if idle:
            self.world.release(self.rng.choice(idle))

    def evict(self) -> None:
        n, cache, pool = self.rng.randint(0, 6), self.world.cache, self.world.pool
        before, evictable = pool.available, cache.evictable_pages
        assert cache.evict(n) == pool.available - before == min(n, evictable)

    def wait(self) -> None:
        self.world.pass_time(self.rng.choice([0.5, 20.0]))
        self.world.cache.poll()

    def prefix(self) -> str:
        return "".join(self.rng.choice("ab") for _ in range(self.rng.randint(1, 5)))

    def drain(self) -> None:
        world = self.world
        self.finish()
        for reader in list(world.readers):
            world.release(reader)
        world.settle()
        world.check()
        assert world.control.idle
        assert world.cache.evictable_pages == world.cache.cached_pages
        assert world.pool.available + world.cache.cached_pages == world.pages
        # whoever may go on the host is known there, however it came to be so
        assert len(world.cache._host.allocate(world.host_pages, 10**9) or []) == world.host_pages


@pytest.mark.parametrize("policy", POLICIES)
def test_every_page_has_one_owner_and_its_own_content(policy: Name) -> None:
    worlds = [Schedule(seed, policy).run(40) for seed in range(SCHEDULES // 3 + 1)]
    for name in ("pages_backed_up", "pages_restored", "host_evicted_pages", "backups_refused"):
        assert sum(world.count(name) for world in worlds), name
    assert sum(world.count("host_copies_reclaimed") for world in worlds)
    assert not any(world.count("violation:loading_event_reused") for world in worlds)

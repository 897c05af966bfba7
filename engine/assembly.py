"""An engine's parts, put together: pools, tiers, cache, scheduler, model, runner and shadows.

One rule: this is the only place that reads a build; everything else is handed its parts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine import clock, defects
from engine.cache.radix import RadixCache
from engine.config import PAGE_TOKENS
from engine.pools.allocator import PageAllocator
from engine.pools.device import allocate
from engine.runner.gate import LayerDone, LoadGate, NoLoads
from engine.runner.index_store import ObservedStore
from engine.runner.runner import Runner
from engine.sched.limits import Limits
from engine.sched.questions import Questions
from engine.sched.scheduler import Scheduler
from engine.scribe.forward import Scribe
from engine.shadow.ledger import Ledger
from engine.shadow.pages import PageWatch
from engine.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.cache.prefix import PrefixCache
    from engine.config import EngineConfig
    from engine.events import EventLog
    from engine.pools.device import DevicePools
    from engine.request import Request
    from engine.seams import Seams
    from kernels.ops import Ops

StopText = "Callable[[Request], str | None]"
GB = 1e9


@dataclass(frozen=True)
class Parts:
    """What an engine turns. ``late_s`` asks how late copies that block make the next step."""

    scheduler: Scheduler
    runner: Runner
    streams: Streams
    late_s: Callable[[], float]


class Owners:
    """The scheduler's books, for those who are built before it."""

    scheduler: Scheduler

    def owner_of(self, page: int) -> str | None:
        """``request 7``, ``cache``, or None for a free or reserved page."""
        return self.scheduler.owner_of(page)

    def generation_of(self, page: int) -> int:
        """How often the page was handed out."""
        return self.scheduler.generation_of(page)

    def stale_users(self, pages: Sequence[int]) -> list[tuple[str, int]]:
        """Requests that use one of ``pages`` under an older generation."""
        return self.scheduler.stale_users(pages)


def assemble(
    config: EngineConfig,
    ops: Ops,
    events: EventLog,
    should_stop: Callable[[Request], str | None],
) -> Parts:
    """Every part of one engine, on the running loop's clock. Raises ``ConfigError``."""
    seams = defects.seams(config.build)
    pools = allocate(config, seams.index_k_buffer())
    pages = _pages(config, pools)
    streams = Streams(config.host_gb_per_s * GB, clock.now)
    owners = Owners()
    cache: PrefixCache | None = RadixCache(PAGE_TOKENS, pages) if config.radix else None
    done: LayerDone = NoLoads()
    questions = Questions(
        publication=seams.prefix_publication(),
        reuse=seams.page_reuse(),
        rows=seams.row_owner(),
        pin=seams.prefix_pin(),
    )
    scheduler = Scheduler(Limits.of(config), pages, cache, events, questions, should_stop)
    owners.scheduler = scheduler
    layers = len(config.model.compress_ratios)
    gate = LoadGate(seams.read_gate(), streams, done, layers, events, clock.now)
    runner = _runner(config, seams, ops, events, replace(pools, gate=gate), gate, owners)
    return Parts(scheduler, runner, streams, lambda: 0.0)


def _pages(config: EngineConfig, pools: DevicePools) -> PageAllocator:
    """The device's page allocator; a dirty pool is poisoned whenever nobody holds a page."""
    rng = random.Random(f"{config.seed}:allocator")
    if not config.poison_free_pages:
        return PageAllocator(config.pool_pages, config.allocator, rng)
    pools.poison(range(1, config.pool_pages + 1))
    return PageAllocator(config.pool_pages, config.allocator, rng, on_free=pools.poison)


def _runner(
    config: EngineConfig,
    seams: Seams,
    ops: Ops,
    events: EventLog,
    pools: DevicePools,
    gate: LoadGate,
    owners: Owners,
) -> Runner:
    store = ObservedStore(seams.index_k_store(ops))
    model = Scribe(config.model, ops, store, config.topk, config.device)
    ledger, watch = Ledger(events, owners), PageWatch(config.pool_pages, events, owners)
    return Runner(config, model, pools, store, seams.dead_rows(), ledger, watch, gate, events)

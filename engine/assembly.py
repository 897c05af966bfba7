"""An engine's parts, put together: pools, tiers, cache, scheduler, model, runner and shadows.

One rule: a build is read here, and by ``engine.shapes`` for an engine that is only measured;
everything else is handed its parts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine import clock, defects
from engine.cache.hicache import HiCacheController
from engine.cache.hiradix import HiRadixCache
from engine.cache.questions import CacheQuestions
from engine.cache.radix import RadixCache
from engine.config import PAGE_TOKENS
from engine.disagg.questions import RoomQuestions
from engine.pools.allocator import PageAllocator
from engine.pools.device import allocate
from engine.pools.geometry import geometry
from engine.pools.host_stack import HostQuestions, HostStack
from engine.runner.gate import LoadGate, NoLoads
from engine.runner.hot_buffer import HotBuffer
from engine.runner.index_store import ObservedStore
from engine.runner.logits_rows import LogitsRows
from engine.runner.runner import Runner
from engine.runner.staging import HotStaging
from engine.sched.limits import Limits
from engine.sched.questions import Questions
from engine.sched.scheduler import Scheduler
from engine.scribe.forward import Scribe
from engine.shadow.compute import ComputeWatch, NoStepWatch
from engine.shadow.ledger import Ledger, NoLedger
from engine.shadow.memory import ShadowMemory
from engine.shadow.pages import PageWatch
from engine.shadow.stores import LatentStores
from engine.streams import Streams

if TYPE_CHECKING:
    from engine.cache.prefix import PrefixCache
    from engine.config import EngineConfig
    from engine.events import EventLog
    from engine.pools.device import DevicePools
    from engine.pools.geometry import GeometryRow
    from engine.request import Request
    from engine.role import Role
    from engine.seams import Seams
    from kernels.ops import Ops

StopTest = Callable[["Request"], "str | None"]


@dataclass(frozen=True)
class Parts:
    """What an engine turns.

    ``late_s`` says how long copies that block keep the next step back; ``at_rest`` is called when
    there is nothing to do, and judges what no step has asked about. ``shadow`` is None where nobody
    looks.
    """

    scheduler: Scheduler
    runner: Runner
    streams: Streams
    late_s: Callable[[], float]
    at_rest: Callable[[], None]
    geometry: list[GeometryRow]
    shadow: ShadowMemory | None


class Owners:
    """The scheduler's books, for those who are built before it."""

    scheduler: Scheduler

    def owner_of(self, page: int) -> str | None:
        """``request 7``, ``cache``, or None for a free or reserved page."""
        return self.scheduler.owner_of(page)

    def generation_of(self, page: int) -> int:
        """How often the page was handed out."""
        return self.scheduler.generation_of(page)

    def free_pages(self) -> int:
        """Pages of the device that nobody has."""
        return self.scheduler.holdings.allocator.available

    @property
    def freeing(self) -> str:
        """Whose pages become free now."""
        return self.scheduler.holdings.freeing

    def stale_users(self, pages: Sequence[int]) -> list[tuple[str, int]]:
        """Requests that use one of ``pages`` under an older generation."""
        return self.scheduler.stale_users(pages)


@dataclass(frozen=True)
class Tiers:
    """What lies below the device: the host's mirrors of prefixes, and HiSparse's latents."""

    streams: Streams
    cache: PrefixCache | None
    host: HostStack | None = None
    controller: HiCacheController | None = None
    hot: HotBuffer | None = None


def assemble(
    config: EngineConfig, ops: Ops, events: EventLog, should_stop: StopTest, role: Role
) -> Parts:
    """Every part of one engine, on the running loop's clock. Raises ``ConfigError``."""
    seams, owners = defects.seams(config.build), Owners()
    pools = allocate(config, seams.index_k_buffer())
    pages = _pages(config, pools, role.name)
    shadow = _shadow(config, pools, pages, events, owners, role)
    tiers = _tiers(config, seams, ops, pools, pages, events, owners, shadow)
    scheduler = owners.scheduler = Scheduler(
        Limits.of(config),
        pages,
        tiers.cache,
        events,
        _questions(seams),
        should_stop,
        HotStaging(tiers.hot, tiers.streams) if tiers.hot else role.staging,
        role.transfers,
    )
    if shadow is not None:
        scheduler.holdings.on_finish = shadow.heard
    runner = _runner(config, seams, ops, pools, tiers, events, owners, shadow)
    late_s = tiers.controller.stall_s if tiers.controller else lambda: 0.0
    shapes = geometry(pools, tiers.host, tiers.hot)
    at_rest = tiers.host.poll if tiers.host else lambda: None
    return Parts(scheduler, runner, tiers.streams, late_s, at_rest, shapes, shadow)


def now_us() -> int:
    """Whole microseconds of the loop's clock."""
    return clock.now_ns() // 1000


def room_questions(config: EngineConfig) -> RoomQuestions:
    """What the two sides of a pair ask, as the build answers it."""
    seams = defects.seams(config.build)
    return RoomQuestions(
        layout=seams.peer_layout(),
        message=seams.bootstrap_message(),
        poll=seams.receiver_poll(),
        fence=seams.room_fence(),
        take=seams.metadata_take(),
        check=seams.metadata_check(),
        agreement=seams.poll_agreement(),
    )


def _pages(config: EngineConfig, pools: DevicePools, side: str) -> PageAllocator:
    """The device's page allocator; a dirty pool is poisoned whenever nobody holds a page.

    The two sides of a pair draw each from its own generator, all ranks of a side alike.
    """
    rng = random.Random(f"{config.seed}:{side}:allocator" if side else f"{config.seed}:allocator")
    if not config.poison_free_pages:
        return PageAllocator(config.pool_pages, config.allocator, rng)
    pools.poison(range(1, config.pool_pages + 1))
    return PageAllocator(config.pool_pages, config.allocator, rng, on_free=pools.poison)


def _shadow(
    config: EngineConfig,
    pools: DevicePools,
    pages: PageAllocator,
    events: EventLog,
    owners: Owners,
    role: Role,
) -> ShadowMemory | None:
    """The shadow of the device's pools, which hears of every page that changes hands."""
    if config.ledger == "off":
        return None
    side = f"{role.name} {role.rank}" if role.rank else role.name
    shadow = ShadowMemory(
        pools.pools,
        config.pool_pages,
        events,
        owners,
        now_us,
        role.common,
        side,
        full=config.ledger == "full",
    )
    poison = pages.on_free

    def freed(gone: Sequence[int]) -> None:
        if poison is not None:
            poison(gone)
        shadow.freed(gone, owners.freeing)

    pages.on_take, pages.on_free = shadow.taken, freed
    return shadow


def _tiers(
    config: EngineConfig,
    seams: Seams,
    ops: Ops,
    pools: DevicePools,
    pages: PageAllocator,
    events: EventLog,
    owners: Owners,
    shadow: ShadowMemory | None,
) -> Tiers:
    streams = Streams(config.host_bytes_per_s, clock.now)
    tokens = seams.token_transfer(ops)
    hot = HotBuffer(config, pools, ops, tokens, events) if config.hisparse else None
    if not config.hicache:
        cache = RadixCache(PAGE_TOKENS, pages) if config.radix else None
        return Tiers(streams, cache, hot=hot)
    ask = HostQuestions(seams.host_layout(), seams.transfer_pieces(), tokens)
    host = HostStack(config, pools, ops, ask, events, owners, shadow)
    start = seams.backup_start()
    controller = HiCacheController(host, streams, events, clock.now, start)
    questions = CacheQuestions(
        start, seams.load_target(), seams.host_reuse(), seams.backup_refusal()
    )
    policy = config.hicache_write
    tree = HiRadixCache(PAGE_TOKENS, pages, controller, host, questions, policy, events)
    return Tiers(streams, tree, host, controller, hot)


def _questions(seams: Seams) -> Questions:
    return Questions(
        publication=seams.prefix_publication(),
        reuse=seams.page_reuse(),
        rows=seams.row_owner(),
        pin=seams.prefix_pin(),
    )


def _by_bytes(config: EngineConfig) -> bool:
    """Whether what stores left is looked at: on a GPU each look would wait for the device."""
    return config.ledger == "full" and config.device == "cpu"


def _latents(config: EngineConfig, ops: Ops, pools: DevicePools) -> LatentStores:
    """The store of latents, watched: a chunk is the most that one call writes, or a step's rows."""
    rows = max(config.chunked_prefill, config.max_running, config.graph_max_bs)
    return LatentStores(ops.store_latent, pools.pools, rows)


def _runner(
    config: EngineConfig,
    seams: Seams,
    ops: Ops,
    pools: DevicePools,
    tiers: Tiers,
    events: EventLog,
    owners: Owners,
    shadow: ShadowMemory | None,
) -> Runner:
    done = tiers.controller.layer_done if tiers.controller else NoLoads()
    layers = len(config.model.compress_ratios)
    loads = tiers.host.shadow if tiers.host else None
    gate = LoadGate(seams.read_gate(), tiers.streams, done, layers, events, clock.now, loads)
    store = ObservedStore(seams.index_k_store(ops))
    stores = _latents(config, ops, pools) if _by_bytes(config) else None
    watched = replace(ops, store_latent=stores) if stores else ops
    model = Scribe(config.model, watched, store, config.topk, config.device)
    model.hot, model.combiner = tiers.hot, seams.prefill_combiner()
    rows = model.logits_rows = LogitsRows.of(seams.logits_offset(), config)
    watch = PageWatch(config.pool_pages, events, owners)
    ledger = NoLedger() if shadow is None else Ledger(events, owners)
    steps = NoStepWatch() if shadow is None else ComputeWatch(shadow, config, stores, rows)
    gated = replace(pools, gate=gate)
    return Runner(
        config,
        model,
        gated,
        store,
        seams.dead_rows(),
        ledger,
        watch,
        gate,
        events,
        steps,
        owners.free_pages,
    )

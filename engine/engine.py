"""One engine, assembled: pools, model, runner, scheduler, ledger, and the loop that turns them.

One rule: the assembly is the only place that reads a build; everything else is handed its parts.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from engine import clock, defects
from engine.cache.radix import RadixCache
from engine.config import PAGE_TOKENS
from engine.errors import EngineError
from engine.events import EventLog
from engine.handle import Handle
from engine.pools.allocator import PageAllocator
from engine.pools.device import allocate
from engine.request import Request
from engine.runner.index_store import ObservedStore
from engine.runner.runner import Runner
from engine.sched.batch import PrefillBatch
from engine.sched.limits import Limits
from engine.sched.overlap import Loop, NormalLoop, OverlapLoop
from engine.sched.questions import Questions
from engine.sched.scheduler import Scheduler
from engine.scribe.forward import Scribe
from engine.shadow.ledger import Ledger
from engine.text.tokenizer import decode
from kernels.ops import Ops

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from engine.config import EngineConfig
    from engine.sched.batch import Batch
    from engine.seams import Seams


class Engine:
    """Serves requests on the running loop's clock. Raises ``ConfigError`` on what cannot work."""

    def __init__(self, config: EngineConfig, ops: Ops | None = None) -> None:
        self.config = config
        self.events = EventLog(clock.now_ns)
        ops = ops or (Ops.reference() if config.device == "cpu" else Ops.triton())
        seams = defects.seams(config.build)
        self.scheduler = _scheduler(config, seams, self.events)
        self.runner = _runner(config, seams, ops, self.events, self.scheduler)
        order: type[OverlapLoop] | type[NormalLoop] = OverlapLoop if config.overlap else NormalLoop
        self.loop: Loop = order(self.scheduler, self._run, self._deliver)
        self._handles: dict[int, Handle] = {}
        self._requests = 0
        self._work = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._stopped = False
        self.died: Exception | None = None  # what ended the loop, if something did

    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str] = ()) -> Handle:
        """Queue a generation. Raises ``RequestRefused`` for what can never be served.

        Once the loop has died, raises what it died of; after ``stop``, ``EngineError``.
        """
        if self.died is not None:
            raise self.died
        if self._stopped:
            raise EngineError("the engine was stopped; it takes no more requests")
        req = Request(self._requests + 1, prompt, max_tokens, tuple(stop))
        self.scheduler.add(req)
        self._requests = req.id
        self.events.emit("arrive", request=req.id, prompt=len(prompt))
        handle = self._handles[req.id] = Handle(req, self.config.stream_interval, self._abort)
        self._work.set()
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve(), name="engine")
        return handle

    def info(self) -> dict[str, Any]:
        """The effective configuration and how full the engine is, JSON-ready."""
        holdings = self.scheduler.holdings
        return {
            **self.config.as_dict(),
            "free_pages": holdings.allocator.available,
            "cached_pages": holdings.cache.cached_pages,
            "running": len(self.scheduler.running),
            "counters": dict(self.events.counters),
        }

    async def stop(self) -> None:
        """End every generation and the loop, for good."""
        self._stopped = True
        for handle in list(self._handles.values()):
            handle.abort()
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)

    async def _serve(self) -> None:
        """Step while there is work; sleep on an event otherwise, so that a wedge is visible."""
        try:
            while True:
                if not await self.loop.step():
                    self._audit()
                    self._work.clear()
                    await self._work.wait()
        except Exception as error:  # whatever it is, the readers hear of it
            self.died = error
            for handle in self._handles.values():
                handle.fail(error)

    def _audit(self) -> None:
        """With nothing to do, the books must balance: free + cached + owned = total."""
        for problem in self.scheduler.check():
            self.events.violation("page_books_broken", problem=problem)

    def _run(self, batch: Batch) -> Awaitable[Sequence[int]]:
        """Do a batch's tensor work now; awaiting the answer lets its time pass."""
        if isinstance(batch, PrefillBatch):
            return _after(*self.runner.prefill(batch.chunks))
        return _after(*self.runner.decode(batch.reqs, batch.seq_lens))

    def _deliver(self, heard: list[Request]) -> None:
        for req in heard:
            self._tell(req)

    def _abort(self, req: Request) -> None:
        if not req.done:
            self.events.count("aborts")
            self.scheduler.abort(req)
            self._tell(req)
            self._work.set()

    def _tell(self, req: Request) -> None:
        handle = self._handles.get(req.id)
        if handle is None:
            return
        handle.hear()
        if req.done:
            del self._handles[req.id]


async def _after(tokens: Sequence[int], seconds: float) -> Sequence[int]:
    """``tokens``, once ``seconds`` of virtual time have passed; a wall clock needs no help."""
    await clock.sleep(seconds if clock.is_virtual() else 0.0)
    return tokens


def _scheduler(config: EngineConfig, seams: Seams, events: EventLog) -> Scheduler:
    rng = random.Random(f"{config.seed}:allocator")
    pages = PageAllocator(config.pool_pages, config.allocator, rng)
    radix = RadixCache(PAGE_TOKENS, pages) if config.radix else None
    ask = Questions(seams.prefix_publication(), seams.page_reuse(), seams.row_owner())
    return Scheduler(Limits.of(config), pages, radix, events, ask, _said_a_stop_text)


def _runner(
    config: EngineConfig, seams: Seams, ops: Ops, events: EventLog, scheduler: Scheduler
) -> Runner:
    pools = allocate(config, seams.index_k_buffer())
    store = ObservedStore(seams.index_k_store(ops))
    model = Scribe(config.model, ops, store, config.topk, config.device)
    ledger = Ledger(events, scheduler)
    return Runner(config, model, pools, store, seams.dead_rows(), ledger, events)


def _said_a_stop_text(req: Request) -> str | None:
    """``stop`` once a stop text ends in the tokens said last; the reader cuts it off."""
    if not req.stop:
        return None
    longest = max(len(text.encode()) for text in req.stop)
    tail = decode(req.output[-longest - 4 :])
    return "stop" if any(text in tail for text in req.stop) else None

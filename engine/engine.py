"""One engine: its parts, and the loop that turns them.

One rule: it puts nothing together (`engine.assembly` does), and what is next is the scheduler's.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine import clock
from engine.assembly import assemble
from engine.errors import EngineError
from engine.events import EventLog
from engine.handle import Handle
from engine.request import Request
from engine.sched.overlap import Loop, NormalLoop, OverlapLoop
from engine.text.tokenizer import decode
from kernels.ops import Ops

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from engine.config import EngineConfig
    from engine.sched.batch import Batch


class Engine:
    """Serves requests on the running loop's clock. Raises ``ConfigError`` on what cannot work."""

    def __init__(self, config: EngineConfig, ops: Ops | None = None) -> None:
        self.config = config
        self.events = EventLog(clock.now_ns)
        ops = ops or (Ops.reference() if config.device == "cpu" else Ops.triton())
        parts = assemble(config, ops, self.events, _said_a_stop_text)
        self.scheduler, self.runner, self.streams = parts.scheduler, parts.runner, parts.streams
        self._late_s, self._at_rest, self._geometry = parts.late_s, parts.at_rest, parts.geometry
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
            "geometry": self._geometry,
        }

    async def stop(self) -> None:
        """End every generation and the loop, for good."""
        self._stopped = True
        for handle in list(self._handles.values()):
            handle.abort()
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        self._at_rest()

    async def _serve(self) -> None:
        """Step while there is work; sleep on an event otherwise, so that a wedge is visible."""
        try:
            while True:
                self.streams.land(clock.now())
                if not await self.loop.step():
                    wait_s = self.streams.wait_s()
                    if wait_s is None:
                        self._audit()
                    await self._news(wait_s)
        except Exception as error:  # whatever it is, the readers hear of it
            self.died = error
            for handle in self._handles.values():
                handle.fail(error)

    async def _news(self, copy_s: float | None) -> None:
        """Sleep until something arrives or is aborted, or until a copy lands: its pages, or its
        request, may be what the others wait for.
        """
        self._work.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(copy_s):
                await self._work.wait()

    def _audit(self) -> None:
        """With nothing to do, the books must balance: free + cached + owned = total."""
        self._at_rest()
        for problem in self.scheduler.check():
            self.events.violation("page_books_broken", problem=problem)

    def _run(self, batch: Batch) -> Awaitable[Sequence[int]]:
        """Launch a batch: awaiting the answer does its tensor work and lets its time pass."""
        return _after(self.runner.launch(batch, self._late_s()))

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


async def _after(work: Callable[[], tuple[Sequence[int], float]]) -> Sequence[int]:
    """What ``work`` answers, once its seconds have passed; a wall clock needs no help."""
    tokens, seconds = work()
    await clock.sleep(seconds if clock.is_virtual() else 0.0)
    return tokens


def _said_a_stop_text(req: Request) -> str | None:
    """``stop`` once a stop text ends in the tokens said last; the reader cuts it off."""
    if not req.stop:
        return None
    longest = max(len(text.encode()) for text in req.stop)
    tail = decode(req.output[-longest - 4 :])
    return "stop" if any(text in tail for text in req.stop) else None

"""One engine: its parts, and the loop that turns them.

One rule: it puts nothing together (`engine.assembly` does), and what is next is the scheduler's.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine import clock
from engine.assembly import assemble
from engine.devices import choose
from engine.errors import EngineError
from engine.events import EventLog
from engine.handle import Handle
from engine.request import Request
from engine.role import Alone
from engine.sched.overlap import Loop, NormalLoop, OverlapLoop
from engine.text.tokenizer import decode
from kernels.ops import Ops

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from engine.config import EngineConfig
    from engine.role import Role
    from engine.sched.batch import Batch


TURNS = 5  # of the loop: a connection, its request, its task, what it awaits, and one to spare


class Engine:
    """Serves requests on the running loop's clock. Raises ``ConfigError`` on what cannot work."""

    def __init__(
        self,
        config: EngineConfig,
        ops: Ops | None = None,
        events: EventLog | None = None,
        role: Role | None = None,
    ) -> None:
        self.config = config
        self.events = EventLog(clock.now_ns) if events is None else events
        self.role: Role = role or Alone()
        ops = ops or operations(config)
        parts = assemble(config, ops, self.events, _said_a_stop_text, self.role)
        self.scheduler, self.runner, self.streams = parts.scheduler, parts.runner, parts.streams
        self.shadow = parts.shadow
        self._late_s, self._at_rest, self.geometry = parts.late_s, parts.at_rest, parts.geometry
        order: type[OverlapLoop] | type[NormalLoop] = OverlapLoop if config.overlap else NormalLoop
        self.loop: Loop = order(self.scheduler, self._run, self._deliver)
        self._handles: dict[int, Handle] = {}
        self._requests = 0
        self._work = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._stopped = self._asleep = False
        self._audited: object = None  # the books as they were when they were audited last
        self._computing = False  # a step's work is being done, and its time passes
        self.died: Exception | None = None  # what ended the loop, if something did
        self.on_death: Callable[[Exception], None] | None = None
        self.role.attach(self)

    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str] = ()) -> Handle:
        """Queue a generation. Raises ``RequestRefused`` for what can never be served.

        Once the loop has died, raises what it died of; after ``stop``, ``EngineError``.
        """
        req = self.enqueue(prompt, max_tokens, stop)
        handle = self._handles[req.id] = Handle(req, self.config.stream_interval, self._abort)
        return handle

    def enqueue(self, prompt: list[int], max_tokens: int, stop: Sequence[str] = ()) -> Request:
        """`submit` for a request that nobody reads."""
        if self.died is not None:
            raise self.died
        if self._stopped:
            raise EngineError("the engine was stopped; it takes no more requests")
        req = Request(self._requests + 1, prompt, max_tokens, tuple(stop))
        self.role.add(req)
        self._requests = req.id
        self.events.emit("arrive", request=req.id, prompt=len(prompt))
        self.wake()
        return req

    def wake(self) -> None:
        """Something happened that the loop must look at."""
        self._work.set()
        if self._serving is None and not self._stopped:
            self._serving = asyncio.create_task(self._serve(), name="engine")

    def nudge(self) -> None:
        """`wake`, if the loop sleeps; one that is awake comes by itself."""
        if self._serving is None or self._asleep:
            self.wake()

    def abort(self, request_id: int) -> bool:
        """End a generation at any stage; False for a number that nobody is served under."""
        handle = self._handles.get(request_id)
        if handle is None:
            return False
        handle.abort()
        return True

    def abort_all(self) -> None:
        """End every generation, in the order in which they came."""
        for handle in list(self._handles.values()):
            handle.abort()

    def flush(self) -> bool:
        """Forget every cached prefix, on all tiers; False, and nothing, while anybody is served."""
        if self._handles or self.busy:
            return False
        return self.scheduler.holdings.cache.clear()

    def info(self) -> dict[str, Any]:
        """The effective configuration and how full the engine is, JSON-ready."""
        holdings = self.scheduler.holdings
        return {
            **self.config.as_dict(),
            "free_pages": holdings.allocator.available,
            "cached_pages": holdings.cache.cached_pages,
            "running": len(self.scheduler.running),
            "waiting": len(self.scheduler.queue.waiting),
            "counters": dict(self.events.counters),
            "geometry": [row.as_dict() for row in self.geometry],
        }

    @property
    def busy(self) -> bool:
        """Whether a step is computed or bytes are copied: slow is not stuck."""
        return self._computing or self.streams.moving

    async def stop(self) -> None:
        """End every generation and the loop, for good."""
        self._stopped = True
        self.abort_all()
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        for handle in self._handles.values():  # ranks end nothing without one another
            handle.fail(EngineError("the engine was stopped"))
        self._at_rest()

    async def _serve(self) -> None:
        """Step while there is work; sleep on an event otherwise, so that a wedge is visible."""
        try:
            while True:
                self.streams.land(clock.now())
                self._work.clear()
                for req, error in await self.role.agree():
                    self.tell(req, error)
                if not await self.loop.step() and not self.role.called():
                    copy_s = self.streams.wait_s()
                    if copy_s is None:
                        self._audit()
                    await self._news(least(copy_s, self.role.wait_s()))
                else:
                    await _turns()
        except Exception as error:  # whatever it is, the readers hear of it
            self.die(error)

    def die(self, error: Exception) -> None:
        """Serve nothing any more: every reader raises ``error``, and ``on_death`` hears of it."""
        self.died = error
        for handle in self._handles.values():
            handle.fail(error)
        if self.on_death is not None:
            self.on_death(error)

    async def _news(self, wait_s: float | None) -> None:
        """Sleep until something arrives or is aborted, or until a copy lands: its pages, or its
        request, may be what the others wait for.
        """
        self._asleep = True
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._work.wait()
        self._asleep = False

    def _audit(self) -> None:
        """With nothing to do, the books must balance: free + cached + owned = total.

        They are gone through when something has changed hands since the last time.
        """
        self._at_rest()
        if (books := self.scheduler.books) == self._audited:
            return
        self._audited = books
        for problem in self.scheduler.check():
            self.events.violation("page_books_broken", problem=problem)

    def _run(self, batch: Batch) -> Awaitable[Sequence[int]]:
        """Launch a batch: awaiting the answer does its tensor work and lets its time pass."""
        return self._after(batch, self.runner.launch(batch, self._late_s()))

    async def _after(
        self, batch: Batch, work: Callable[[], tuple[Sequence[int], float]]
    ) -> Sequence[int]:
        """What ``work`` answers, once its seconds have passed; by a wall clock they have, and
        readers get their turn.
        """
        await self.role.forward(batch)
        self._computing = True
        try:
            tokens, seconds = work()
            await clock.sleep(seconds if clock.is_virtual() else 0.0)
        finally:
            self._computing = False
        self.role.stepped()
        return tokens

    def _deliver(self, heard: list[Request]) -> None:
        for req in heard:
            self.tell(req)

    def _abort(self, req: Request) -> None:
        if not req.done:
            self.events.count("aborts")
            self.role.abort(req)
            self.wake()

    def tell(self, req: Request, error: Exception | None = None) -> None:
        """Wake the request's reader, if it has one: there are tokens, an end, or an error."""
        handle = self._handles.get(req.id)
        if handle is None:
            return
        if error is None:
            handle.hear()
        else:
            handle.fail(error)
        if req.done:
            del self._handles[req.id]


async def _turns() -> None:
    """By a wall clock, what a step said is sent, and what came meanwhile is read, before the next
    step holds up the loop; by the virtual one there is always time.
    """
    if not clock.is_virtual():
        for _ in range(TURNS):
            await clock.sleep(0.0)


def operations(config: EngineConfig) -> Ops:
    """What computes on the engine's device. Raises ``ConfigError`` where that is not here."""
    choose(config.device)
    return Ops.reference() if config.device == "cpu" else Ops.triton()


def least(*waits_s: float | None) -> float | None:
    """The shortest of some waits; None, for ever, is the longest."""
    return min((wait for wait in waits_s if wait is not None), default=None)


def _said_a_stop_text(req: Request) -> str | None:
    """``stop`` once a stop text ends in the tokens said last; the reader cuts it off."""
    if not req.stop:
        return None
    longest = max(len(text.encode()) for text in req.stop)
    tail = decode(req.output[-longest - 4 :])
    return "stop" if any(text in tail for text in req.stop) else None

"""Continuous batching over a paged pool: who runs next, and what becomes of the tokens.

One rule: ``next_batch`` and ``finish`` alternate per batch, in order, and every request's
``inflight`` counts the batches between. Prefill goes before decode; rows keep their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache.prefix import NoPrefix, PrefixCache
from engine.config import PAGE_TOKENS
from engine.request import Request, Status
from engine.sched import audit
from engine.sched.batch import Batch, DecodeBatch, PrefillBatch
from engine.sched.holdings import Holdings
from engine.sched.incoming import Incoming
from engine.sched.prefill import PrefillQueue
from engine.sched.questions import Questions
from engine.sched.retraction import victim
from engine.sched.transfers import NoTransfers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.events import EventLog
    from engine.pools.allocator import PageAllocator
    from engine.sched.batch import Chunk
    from engine.sched.limits import Limits
    from engine.sched.staging import Staging
    from engine.sched.transfers import Transfers


class Scheduler:
    """Requests over pages and rows.

    ``should_stop(req)`` is asked after every token and returns a finish reason or None.
    """

    def __init__(
        self,
        limits: Limits,
        allocator: PageAllocator,
        radix: PrefixCache | None,
        events: EventLog,
        questions: Questions | None = None,
        should_stop: Callable[[Request], str | None] = lambda req: None,
        staging: Staging | None = None,
        transfers: Transfers | None = None,
    ) -> None:
        self.limits = limits
        self.events = events
        self._ask = questions or Questions()
        cache = radix or NoPrefix()
        self.holdings = Holdings(allocator, cache, limits.max_running, events, self._ask.pin)
        self.queue = PrefillQueue(self.holdings, limits.chunked_prefill)
        self.incoming = Incoming(self.holdings)
        self.running: list[Request] = []  # decode rows, in order
        self.staged: list[Request] = []  # prefilled, not yet rows: their latents go to the host
        self.leaving: list[Request] = []  # ended, a step or a transfer still uses their pages
        self.transfers: Transfers = transfers or NoTransfers()
        self._staging = staging
        self._should_stop = should_stop
        self._batches_in_flight = 0

    @property
    def idle(self) -> bool:
        """Whether no request waits, runs or leaves."""
        return not (self.queue.waiting or self._admitted())

    def add(self, req: Request) -> None:
        """Queue a request. Raises ``RequestRefused`` for one that could never be served."""
        self.limits.refuse_if_hopeless(req, self.holdings.allocator.pages)
        self.queue.append(req)

    def abort(self, req: Request) -> None:
        """End a request at any moment; one that has ended already is left alone."""
        if req.done:
            return
        held = req.status is Status.RUNNING
        if not (self.queue.remove(req) or self.incoming.remove(req)):
            (self.running if req in self.running else self.staged).remove(req)
        if req.inflight:
            self.events.count("aborts_in_flight")
        self._end(req, Status.ABORTED, "abort")
        if held:
            self._leave(req)

    @property
    def batches_in_flight(self) -> int:
        """Batches launched and not processed."""
        return self._batches_in_flight

    def drop(self, req: Request) -> None:
        """End a request that was never queued here."""
        self._end(req, Status.ABORTED, "abort")

    def reserve(self, req: Request) -> bool:
        """Take in a request whose prompt another engine computes; False where it must wait."""
        return self.incoming.reserve(req, self._admitted())

    def commit(self, req: Request, token: int) -> None:
        """The prompt's KV has arrived, with its first output token: the request becomes a row."""
        self.incoming.remove(req)
        self._rows().append(req)
        if self._staging is not None:
            self._staging.stage(req)
        self._hear(req, token)
        self._drop_ended()

    def next_batch(self) -> Batch | None:
        """The next step, or None.

        None with a batch in flight may mean that the pool is full: process that batch, ask again.
        """
        if self.holdings.cache.poll():
            self.holdings.gains += 1
        self._collect_staged()
        # the third try: a lone row that was retracted starts again on the pages it gave back
        batch = self._prefill() or self._decode() or self._prefill()
        if batch is not None:
            self._batches_in_flight += 1
            for req in batch.requests:
                req.inflight += 1
        return batch

    def finish(self, batch: Batch, tokens: Sequence[int]) -> list[Request]:
        """Process a step that has run. ``tokens[i]`` was sampled for ``batch.sampled[i]``.

        Returns the requests that got a token, in row order. A row that ended while the step was
        in flight gets none.
        """
        self._batches_in_flight -= 1
        self.holdings.finished()
        for req in batch.requests:
            req.inflight -= 1
        if isinstance(batch, PrefillBatch):
            self._publish(batch)
            self._stage(batch)
            self.transfers.computed(batch, tokens)
        heard = self._hand_out(batch, tokens)
        self._drop_ended()
        self.settle()
        return heard

    def owner_of(self, page: int) -> str | None:
        """`cache`, `request 7`, or None for a page that is free, reserved or not of the pool."""
        return self.holdings.owner_of(page)

    def generation_of(self, page: int) -> int:
        """How often the page was taken: unchanged while one owner hands it to the cache."""
        return self.holdings.generation_of(page)

    def stale_users(self, pages: Sequence[int]) -> list[tuple[str, int]]:
        """Requests that use one of ``pages`` and were given an older generation of it."""
        return self.holdings.stale_users(pages, self._admitted())

    @property
    def books(self) -> tuple[object, ...]:
        """What ``check`` answers for: equal at two moments, and it would answer alike."""
        return self.holdings.moves, *((req.id, len(req.pages)) for req in self._admitted())

    def check(self) -> list[str]:
        """Broken page and slot invariants, as sentences; holds at every moment."""
        return audit.check(self.holdings, self._admitted())

    def _admitted(self) -> list[Request]:
        partial = [self.queue.partial] if self.queue.partial else []
        return [*partial, *self.incoming.requests, *self.running, *self.staged, *self.leaving]

    def _prefill(self) -> PrefillBatch | None:
        chunks = self.queue.take(len(self.running) + len(self.staged), self._publish_early)
        self._rows().extend(chunk.req for chunk in chunks if chunk.last)
        if not chunks:
            return None
        restored = tuple(self.holdings.take_restored())
        return PrefillBatch(chunks, self.holdings.cache.launched(), restored)

    def _rows(self) -> list[Request]:
        """Where a request whose prompt is there waits for its first decode step."""
        return self.running if self._staging is None else self.staged

    def _publish_early(self, chunk: Chunk) -> None:
        if early := self._ask.publication.before_run(chunk):
            self.holdings.publish(chunk.req, early, written=False)

    def _stage(self, batch: PrefillBatch) -> None:
        """Send the latents of finished prompts to the host: they decode once they are there."""
        if self._staging is not None:
            for req in batch.sampled:
                if req.status is Status.RUNNING:
                    self._staging.stage(req)

    def _collect_staged(self) -> None:
        """Rows whose latents have arrived on the host join the decode batch, in order."""
        if self._staging is None or not self.staged:
            return
        ready = [req for req in self.staged if self._staging.ready(req)]
        self.running += ready
        self.staged = [req for req in self.staged if req not in ready]

    def _decode(self) -> DecodeBatch | None:
        if not self._make_room() or not self.running:
            return None
        for req in self.running:
            if req.kv_len % PAGE_TOKENS == 0:
                self.holdings.grow(req)
            req.kv_len += 1
        lengths = [req.kv_len for req in self.running]
        restored = tuple(self.holdings.take_restored())
        return DecodeBatch(list(self.running), lengths, self.holdings.cache.launched(), restored)

    def _make_room(self) -> bool:
        """Retract rows until the others can take a step; False to drain what is in flight first."""
        while not self.holdings.can_grow(sum(not req.kv_len % PAGE_TOKENS for req in self.running)):
            if self._batches_in_flight:
                return False
            self._retract(victim(self.running))
        return True

    def _retract(self, req: Request) -> None:
        """Take a row's pages and queue it first: it computes prompt and output again."""
        self.events.count("retractions")
        self.events.emit("retract", request=req.id, output=len(req.output), kv=req.kv_len)
        self.running.remove(req)
        self.holdings.release(req)
        req.move(Status.WAITING)
        self.queue.put_back(req)

    def _publish(self, batch: PrefillBatch) -> None:
        """Publish what was launched: a chunk in flight is written before any later step reads it.

        That holds on the device alone. A copy that is no part of a step waits (`BackupStart`).
        """
        for req in batch.requests:
            if req.status is Status.RUNNING:
                self.holdings.publish(req, min(req.kv_len, req.n_tokens))

    def _hand_out(self, batch: Batch, tokens: Sequence[int]) -> list[Request]:
        heard: list[Request] = []
        for row, (scheduled, token) in enumerate(zip(batch.sampled, tokens, strict=True)):
            req = _if_it_goes_on(self._ask.rows.owner(batch, row, self.running))
            if req is not _if_it_goes_on(scheduled):
                self.events.violation(
                    "token_of_another_row",
                    request=req.id if req else 0,
                    owner=scheduled.id,
                    row=row,
                )
            if req is None:
                self.events.count("discarded_tokens")
                continue
            heard.append(req)
            self._hear(req, token)
        return heard

    def _hear(self, req: Request, token: int) -> None:
        req.output.append(token)
        if reason := self._ends(req, token):
            self._end(req, Status.FINISHED, reason)
            self._leave(req)

    def _drop_ended(self) -> None:
        self.running = [req for req in self.running if not req.done]
        self.staged = [req for req in self.staged if not req.done]

    def _ends(self, req: Request, token: int) -> str | None:
        if token == self.limits.eos:
            return "stop"
        if reason := self._should_stop(req):
            return reason
        return "length" if len(req.output) >= req.max_tokens else None

    def _end(self, req: Request, status: Status, reason: str) -> None:
        req.move(status)
        req.finish_reason = reason
        self.events.emit("end", request=req.id, reason=reason, output=len(req.output))

    def _leave(self, req: Request) -> None:
        """Release an ended request: now, unless a step in flight or a transfer uses its pages."""
        self.leaving.append(req)
        if req.inflight:
            self.events.count("deferred_releases")
        self.settle()

    def settle(self) -> None:
        """Release the ended requests that no step in flight and no transfer uses any more."""
        staying: list[Request] = []
        for req in self.leaving:
            if self._ask.reuse.releasable(req) and self.transfers.drained(req):
                self.holdings.release(req)
            else:
                staying.append(req)
        self.leaving = staying


def _if_it_goes_on(req: Request | None) -> Request | None:
    """The request, unless it has ended."""
    return None if req is None or req.done else req

"""A model without tensors: it writes tokens into pages and reads them back through page tables.

What it samples depends on every token that it read, so a page lost, shared or reused too early
changes a reply, or is caught at the read.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.cache.radix import RadixCache
from engine.config import PAGE_TOKENS
from engine.events import EventLog
from engine.pools.allocator import Order, PageAllocator
from engine.request import Request, Status
from engine.sched.batch import Batch, Chunk, DecodeBatch, PrefillBatch
from engine.sched.limits import Limits
from engine.sched.overlap import Loop, NormalLoop, OverlapLoop
from engine.sched.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from engine.sched.questions import Questions

EOS = 257


def next_token(tokens: list[int]) -> int:
    """The reply's next token, known without an engine; about one in 60 ends it."""
    mixed = zlib.crc32(b"%d %d" % (zlib.crc32(bytes(t % 256 for t in tokens)), len(tokens)))
    return EOS if mixed % 60 == 0 else mixed % 256


def reply(prompt: list[int], max_tokens: int) -> list[int]:
    """The whole reply to a prompt."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + max_tokens and tokens[-1] != EOS:
        tokens.append(next_token(tokens))
    return tokens[len(prompt) :]


class Pause:
    """Awaited inside a step: hands control to whoever drives the coroutine."""

    def __await__(self):  # type: ignore[no-untyped-def]
        yield


async def _after_a_pause(sampled: list[int]) -> list[int]:
    await Pause()
    return sampled


@dataclass
class FakeModel:
    """KV memory of one token a slot, and the tokens that are not processed yet."""

    kv: dict[int, int] = field(default_factory=dict)  # slot -> token
    pending: dict[int, int] = field(default_factory=dict)  # request -> token sampled last
    batches: list[Batch] = field(default_factory=list)

    def run(self, batch: Batch) -> Awaitable[list[int]]:
        """Work at once, like an engine's launch; time passes in the answer."""
        self.batches.append(batch)
        if isinstance(batch, PrefillBatch):
            sampled = [token for chunk in batch.chunks for token in self._prefill(chunk)]
        else:
            sampled = self._decode(batch)
        return _after_a_pause(sampled)

    def _prefill(self, chunk: Chunk) -> list[int]:
        req, start, end, last = chunk
        for at in range(start, end):
            self.kv[req.slot(at)] = req.tokens[at]
        assert self._read(req, end) == req.tokens[:end], "a page was overwritten"
        return [self._sample(req, end)] if last else []

    def _decode(self, batch: DecodeBatch) -> list[int]:
        for req, length in zip(batch.reqs, batch.seq_lens, strict=True):
            self.kv[req.slot(length - 1)] = self.pending[req.id]
        return [self._sample(req, n) for req, n in zip(batch.reqs, batch.seq_lens, strict=True)]

    def _sample(self, req: Request, length: int) -> int:
        self.pending[req.id] = next_token(self._read(req, length))
        return self.pending[req.id]

    def _read(self, req: Request, length: int) -> list[int]:
        return [self.kv[req.slot(at)] for at in range(length)]


@dataclass
class Bench:
    """A scheduler with its pool, its loop and the fake model."""

    pages: int = 12
    max_running: int = 4
    chunked_prefill: int = 512
    radix: bool = True
    overlap: bool = False
    order: Order = "lifo"
    questions: Questions | None = None

    def __post_init__(self) -> None:
        self.events = EventLog(lambda: 0)
        self.pool = PageAllocator(self.pages, self.order, random.Random(0))
        self.cache = RadixCache(PAGE_TOKENS, self.pool) if self.radix else None
        self.limits = Limits(self.max_running, self.chunked_prefill)
        self.sched = Scheduler(self.limits, self.pool, self.cache, self.events, self.questions)
        self.model = FakeModel()
        order = OverlapLoop if self.overlap else NormalLoop
        self.loop: Loop = order(self.sched, self.model.run)
        self.requests: list[Request] = []

    def add(self, prompt: list[int], max_tokens: int = 20) -> Request:
        req = Request(len(self.requests) + 1, prompt, max_tokens)
        self.sched.add(req)
        self.requests.append(req)
        return req

    def step(self, inside: object = None) -> bool:
        """One turn of the loop; ``inside`` is called, where given, while the batch runs."""
        turn = self.loop.step()
        try:
            while True:
                turn.send(None)
                if callable(inside):
                    inside()
        except StopIteration as end:
            return bool(end.value)

    def drain(self) -> None:
        """Turn the loop until nothing is left to do, checking the books at every step."""
        while self.step():
            assert self.sched.check() == []
        assert self.sched.idle

    def count(self, name: str) -> int:
        return self.events.counters.get(name, 0)


def check_replies(bench: Bench) -> None:
    """Whoever finished has the reply; whoever was aborted has the start of it."""
    for req in bench.requests:
        right = reply(req.prompt, req.max_tokens)
        assert req.output == (right if req.status is Status.FINISHED else right[: len(req.output)])


def check_idle(bench: Bench) -> None:
    """Nobody holds anything: every page is free or cached, every slot free."""
    cached = bench.cache.cached_pages if bench.cache else 0
    assert bench.sched.check() == []
    assert bench.pool.available + cached == bench.pages
    assert bench.sched.holdings.slots.available == bench.max_running
    assert all(not req.pages and req.node is None and not req.inflight for req in bench.requests)
    if bench.cache:
        assert bench.cache.evictable_pages == cached


def prompt(seed: int, length: int) -> list[int]:
    """Bytes of a seed: equal seeds share a prefix as long as the shorter of them."""
    return [*random.Random(seed).randbytes(length)]

"""The fault at work: before every step it looks for what was stated. One rule: equal schedules and
an equal seed make equal damages.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from kvlab_vllm_fault.books import DECODE, PREFILL, Books
from kvlab_vllm_fault.contents import Content, Contents
from kvlab_vllm_fault.damage import Damage
from kvlab_vllm_fault.scheduled import admitted, grown, writes

if TYPE_CHECKING:
    from kvlab_vllm_fault.stated import Stated

KEPT = 512  # blocks whose earlier contents are kept, for `stale`


class Fault:
    """What is stated, between a scheduler and the worker that does what it says."""

    def __init__(self, what: Stated) -> None:
        self._what = what
        self._at_work: AtWork | None = None

    def before(self, scheduled: Any, worker: Any) -> None:
        """Damage what is to be damaged in the step, before it runs."""
        runner = worker.model_runner
        if not runner.kv_caches:
            return
        if self._at_work is None:
            contents = Contents(runner.kv_caches, runner.kv_cache_config.num_blocks)
            silent = bool(getattr(worker, "rank", 0))  # one rank tells it for all
            self._at_work = AtWork(self._what, runner.cache_config.block_size, contents, silent)
        self._at_work.step(scheduled)


class AtWork:
    """The same once there is a pool, of blocks of ``block_size`` rows."""

    def __init__(self, what: Stated, block_size: int, contents: Contents, silent: bool) -> None:
        self._what, self._random = what, random.Random(what.seed)
        self._books, self._contents = Books(block_size), contents
        self._damage = Damage(self._books, contents, silent)
        self._earlier: dict[int, tuple[int, Content]] = {}
        self._running = 0

    def step(self, scheduled: Any) -> None:
        """One step of vLLM."""
        books, self._running = self._books, len(scheduled.num_scheduled_tokens)
        self._damage.step += 1
        for request in scheduled.finished_req_ids:
            books.leave(request)
        for request, prompt, table, computed in admitted(scheduled, books):
            books.admit(request, prompt, table, computed)
            self._admit(request, table, computed // books.block_size)
        for request, more in grown(scheduled):
            self._grow(request, more)
        for write in writes(scheduled, books):
            begins = write.decoded and not books.requests[write.request].decoding
            if begins and self._what.at == "decode" and self._what.kind != "double":
                held = books.requests[write.request]
                self._perhaps(write.request, held.table, write.start // books.block_size)
            books.step(*write)

    def _admit(self, request: str, table: list[int], hit: int) -> None:
        self._keep(table[hit:])
        self._damage.meet(request, hit)
        if hit and self._what.at == "hit":
            self._perhaps(request, table, hit)

    def _grow(self, request: str, more: list[int]) -> None:
        self._keep(more)
        first = len(self._books.requests[request].table)
        self._books.grow(request, more)
        if (self._what.kind, self._what.at) != ("double", "decode"):
            return
        others = [name for name in self._books.requests if name != request]
        if others and self._books.requests[request].decoding and self._chance():
            other = self._books.requests[self._random.choice(others)].table[-1]
            self._damage.double(request, first, other, more, 0)

    def _keep(self, given: list[int]) -> None:
        """What blocks hold that are about to be written anew, where it may be wanted."""
        for block in given if self._what.kind == "stale" else ():
            if self._books.full(block):
                self._earlier.pop(block, None)
                first = self._books.rows[block].first
                self._earlier[block] = first, self._contents.take(block)
        while len(self._earlier) > KEPT:
            del self._earlier[next(iter(self._earlier))]

    def _chance(self) -> bool:
        what = self._what
        spent = what.most and self._damage.count >= what.most
        enough = self._running >= what.running
        return enough and not spent and self._random.random() < what.p

    def _perhaps(self, request: str, table: list[int], blocks: int) -> None:
        """Damage one of the first blocks of the request, if chance wants it so."""
        if not self._chance():
            return
        fit = [index for index in range(blocks) if self._fits(table[index])]
        others = self._books.foreign(request) if self._what.kind in ("swap", "double") else [0]
        if not fit or not others:
            return
        index, other = self._random.choice(fit), self._random.choice(others)
        if self._what.kind in ("swap", "double") and self._contents.same(table[index], other):
            return
        match self._what.kind:
            case "swap":
                self._damage.swap(request, index, other)
            case "double":
                self._damage.double(request, index, other, table, index)
            case "stale":
                self._damage.stale(request, index, *self._earlier[table[index]])
            case _:
                self._damage.zero(request, index)

    def _fits(self, block: int) -> bool:
        """Whether the block is one that was stated, and bears no damage yet."""
        if block in self._books.spoilt or not self._books.full(block):
            return False
        rows, written = self._books.rows[block], self._what.written
        by = {"any": 1, "prefill": rows.count(PREFILL), "decode": rows.count(DECODE)}[written]
        return bool(by) and (self._what.kind != "stale" or block in self._earlier)

"""Steps that compute nothing: requests on pages, and a watch that hears what a step would say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch

from engine.config import PAGE_TOKENS, EngineConfig, ModelConfig
from engine.defects import seams
from engine.events import EventLog
from engine.pools.allocator import PageAllocator
from engine.pools.device import allocate
from engine.request import Request
from engine.runner.index_store import StoreTrace
from engine.runner.inputs import PrefillInputs
from engine.runner.row_table import RowTable
from engine.runner.rows import decode_rows
from engine.sched.batch import Chunk, DecodeBatch, PrefillBatch
from engine.shadow.compute import ComputeWatch
from engine.shadow.memory import ShadowMemory

MODEL = ModelConfig(index_topk=4, max_context=1024)


class Steps:
    """Eight pages and three request slots; ``seen`` are the violations so far."""

    def __init__(
        self, build: Sequence[str] = (), index_k: Literal["fp8", "bf16"] = "fp8", **toggles: Any
    ) -> None:
        self.config = EngineConfig(
            pool_pages=8, max_running=3, model=MODEL, index_k=index_k, build=tuple(build), **toggles
        )
        self.pools = allocate(self.config, seams(build).index_k_buffer())
        self.events = EventLog(lambda: 0)
        self.pages = PageAllocator(8)
        self.shadow = ShadowMemory(self.pools.pools, 8, self.events, self, lambda: 5)
        self.pages.on_take = self.shadow.taken
        self.pages.on_free = lambda pages: self.shadow.freed(pages, "request 1")
        self.watch = ComputeWatch(self.shadow, self.config)
        self.table = RowTable(self.config)
        self.steps = self.requests = 0

    def owner_of(self, page: int) -> str | None:
        return "request 1" if self.pages.holds(page) else None

    def generation_of(self, page: int) -> int:
        return self.pages.generation_of(page)

    @property
    def seen(self) -> list[dict[str, Any]]:
        return [event.fields for event in self.events.events if event.kind == "violation"]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(str(each["name"]) for each in self.seen))

    def admit(self, prompt: list[int], prefix: Sequence[int] = ()) -> Request:
        """A request on pages of its own, behind ``prefix`` pages that others hold."""
        self.requests += 1
        req = Request(self.requests, prompt, 1000)
        own = self.pages.allocate(-(-len(prompt) // PAGE_TOKENS) - len(prefix))
        req.pages, req.req_slot = [*prefix, *own], self.requests
        req.takes = [self.generation_of(page) for page in req.pages]
        return req

    def prefill(self, req: Request, start: int = 0, end: int = 0) -> None:
        """A chunk of a request, its prompt's last one unless it ends before; the host hears."""
        self.prefills(Chunk(req, start, end or req.n_tokens, not end))

    def prefills(self, *chunks: Chunk) -> None:
        """Chunks of one step, run in this order."""
        self.watch.launched(PrefillBatch(list(chunks)))
        for chunk in chunks:
            self.steps += 1
            slots = torch.tensor([chunk.req.slot(at) for at in range(chunk.start, chunk.end)])
            x = PrefillInputs(
                torch.tensor(chunk.req.tokens[chunk.start : chunk.end]),
                chunk.start,
                slots,
                self.table.row(chunk.req),
                chunk.req.req_slot,
                chunk.last,
            )
            self.watch.chunk(x, self.steps, self.trace(slots[3::4] // 4), None)
        self._ended()

    def decode(
        self,
        *reqs: Request,
        token: int = 9,
        padding: Sequence[int] = (),
        chosen: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """A step of one token a request, said before; ``padding`` lanes write index-K slots."""
        for req in reqs:
            req.output.append(token)
            if req.n_tokens > len(req.pages) * PAGE_TOKENS:
                req.pages += self.pages.allocate(1)
                req.takes.append(self.generation_of(req.pages[-1]))
        lengths = [req.n_tokens for req in reqs]
        self.steps += 1
        self.watch.launched(DecodeBatch(list(reqs), lengths))
        self.table.next_token[:] = token
        x = decode_rows(list(reqs), lengths, self.table)
        done = torch.where(x.seq_lens % 4 == 0, x.c4_out_loc, -1)
        trace = self.trace(torch.cat([done, torch.tensor([*padding], dtype=torch.int64)]))
        picked = None if chosen is None else torch.tensor(chosen, dtype=torch.int32)
        self.watch.rows(x, self.steps, trace, picked)
        self._ended()

    def trace(self, written: torch.Tensor) -> StoreTrace:
        return StoreTrace(self.pools.index_k, written, written >= 0, written)

    def _ended(self) -> None:
        self.watch.ended()
        self.shadow.heard()


def tokens(n: int, first: int = 0) -> list[int]:
    """A prompt unlike one of another ``first``."""
    return [(first + 7 * at) % 97 for at in range(n)]

"""Runs a batch: builds its inputs, moves the bytes, says how long it took. No scheduling here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from engine import clock
from engine.config import PAGE_TOKENS
from engine.devices import wait_for
from engine.runner import step_cost
from engine.runner.eager import EagerDecode
from engine.runner.graph import CapturedDecode
from engine.runner.inputs import PrefillInputs
from engine.runner.row_table import RowTable
from engine.runner.rows import decode_rows
from engine.sched.batch import PrefillBatch
from engine.scribe.combiner import LARGE_STEP
from engine.spans import span

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.config import EngineConfig
    from engine.events import EventLog, Field
    from engine.pools.device import DevicePools
    from engine.runner.dead_rows import DeadRows
    from engine.runner.gate import LoadGate
    from engine.runner.index_store import ObservedStore, StoreTrace
    from engine.runner.inputs import DecodeInputs
    from engine.sched.batch import Batch, Chunk, DecodeBatch
    from engine.scribe.forward import Scribe
    from engine.shadow.compute import StepWatch
    from engine.shadow.ledger import WriteWatch
    from engine.shadow.pages import PageWatch


class Runner:
    """One engine's tensor work. Token lists out are parallel to the batch that went in."""

    def __init__(
        self,
        config: EngineConfig,
        model: Scribe,
        pools: DevicePools,
        store: ObservedStore,
        dead_rows: DeadRows,
        ledger: WriteWatch,
        watch: PageWatch,
        gate: LoadGate,
        events: EventLog,
        steps: StepWatch,
        free_pages: Callable[[], int],
    ) -> None:
        self.config, self.model, self.pools, self.events = config, model, pools, events
        self.store, self.ledger, self.watch, self.gate = store, ledger, watch, gate
        self.shadow, self._free_pages = steps, free_pages
        self.hardware = step_cost.preset(config.hardware)
        self.kv_bytes = step_cost.kv_bytes_per_token(config.index_k)
        self.table = RowTable(config)
        self.steps = 0
        self._began_s = 0.0  # when the step's work began
        self._decode: EagerDecode | CapturedDecode = (
            CapturedDecode(model, pools, config, dead_rows, store)
            if config.graph
            else EagerDecode(model, pools)
        )

    def launch(self, batch: Batch, late_s: float = 0.0) -> Callable[[], tuple[list[int], float]]:
        """Fix a step's inputs now. Calling the answer does the work: the sampled tokens, parallel
        to ``batch.sampled``, and virtual seconds, of which ``late_s`` pass before it starts.
        """
        self.shadow.launched(batch)
        if isinstance(batch, PrefillBatch):
            return partial(self._prefill, batch, self._chunks(batch), late_s)
        inputs = decode_rows(batch.reqs, batch.seq_lens, self.table)
        for req, length in zip(batch.reqs, batch.seq_lens, strict=True):
            self.watch.wrote_row(req, length - 1)
        return partial(self._decode_step, batch, inputs, late_s)

    def starts_with(self, req_slot: int, token: int) -> None:
        """A row's prompt was computed elsewhere: its first decode step reads ``token``."""
        self.table.next_token[req_slot] = token

    def _chunks(self, batch: PrefillBatch) -> list[tuple[PrefillInputs, list[int]]]:
        """The chunks' inputs, and the pages of their prefixes where a restore may fill some; what
        they read is judged before anything of the step counts as written.
        """
        self.watch.restored(batch.restored)
        for chunk in batch.chunks:
            self.watch.reads(chunk.req, chunk.start)
        for chunk in batch.chunks:
            self.watch.wrote(chunk.req, chunk.start, chunk.end)
        inputs = [self._chunk(chunk, batch.tokens) for chunk in batch.chunks]
        read = [chunk.start // PAGE_TOKENS if batch.restored else 0 for chunk in batch.chunks]
        prefixes = [chunk.req.pages[:n] for chunk, n in zip(batch.chunks, read, strict=True)]
        return list(zip(inputs, prefixes, strict=True))

    def _chunk(self, chunk: Chunk, step_rows: int) -> PrefillInputs:
        req, span = chunk.req, range(chunk.start, chunk.end)
        return PrefillInputs(
            tokens=self._ids(req.tokens[chunk.start : chunk.end]),
            start=chunk.start,
            slots=self._ids([req.slot(at) for at in span]),
            page_table=self.table.row(req),
            req_slot=req.req_slot,
            last=chunk.last,
            step_rows=step_rows,
        )

    @torch.inference_mode()
    def _prefill(
        self, batch: PrefillBatch, chunks: list[tuple[PrefillInputs, list[int]]], late_s: float
    ) -> tuple[list[int], float]:
        """The chunks of a step do not depend on each other, so a kernel may run them in any order.

        Here the one admitted last goes first, which is the order least kind to a chunk that reads
        what another one of its step writes.
        """
        tokens = sum(len(inputs.tokens) for inputs, _ in chunks)
        seconds = step_cost.prefill_s(self.hardware, tokens)
        self._begin(batch, seconds, late_s)
        sampled = [self._run_chunk(*chunk) for chunk in reversed(chunks)]
        self.events.count("prefill_tokens", tokens)
        self.events.count("large_prefill_rows", tokens if tokens > LARGE_STEP else 0)
        self.events.reach("largest:prefill_rows", tokens)
        self.events.emit("prefill", chunks=len(chunks), tokens=tokens)
        out = [token for token in reversed(sampled) if token is not None]
        seconds += self.gate.end()
        self.shadow.ended()
        who = " ".join(str(req.id) for req in batch.requests)
        self._span("prefill", late_s, seconds, rows=len(chunks), tokens=tokens, requests=who)
        return out, seconds

    def _run_chunk(self, inputs: PrefillInputs, prefix: list[int]) -> int | None:
        self.gate.reader(prefix)
        token = self.model.prefill(inputs, self.pools)
        trace = self._observe(lanes=None)
        self.shadow.chunk(inputs, self.steps, trace, self.model.chosen)
        if token is None:
            return None
        self.table.next_token[inputs.req_slot] = token[0]
        return int(token[0])

    @torch.inference_mode()
    def _decode_step(
        self, batch: DecodeBatch, inputs: DecodeInputs, late_s: float
    ) -> tuple[list[int], float]:
        rows = len(batch.reqs)
        size = self._decode.padded(rows)
        read = sum(batch.seq_lens) * self.kv_bytes + size * step_cost.window_bytes()
        seconds = step_cost.decode_s(self.hardware, size, read, self._captured(rows))
        self._begin(batch, seconds, late_s)
        out = self._decode.run(inputs)
        self.table.next_token[inputs.req_slots] = out
        if (trace := self._observe(lanes=size)) is not None:
            self.shadow.rows(inputs, self.steps, trace, self.model.chosen)
        self._count(rows, size)
        seconds += self.gate.end()
        self.shadow.ended()
        tokens, swapped_s = self._read_back(out)
        seconds += swapped_s
        self._span("decode", late_s, seconds, rows=rows, size=size)
        return tokens, seconds

    def _read_back(self, out: torch.Tensor) -> tuple[list[int], float]:
        """The sampled tokens, and the seconds that fetching single entries from the host took of
        the decode step just ended: the device is waited for once.
        """
        hot = self.model.hot
        if hot is None:
            return out.tolist(), 0.0
        values = torch.cat([out, hot.counts]).tolist()
        tokens, counts = values[: len(out)], values[len(out) :]
        return tokens, self.gate.carry(*hot.counted(counts))

    def _observe(self, lanes: int | None) -> StoreTrace | None:
        """What the index-K store was last called with, unless a chunk was too short to call it."""
        self.steps += 1
        trace, self.store.last = self.store.last, None
        if trace is not None:
            self.ledger.observe(trace, self.steps, lanes)
        return trace

    def _begin(self, batch: Batch, seconds: float, late_s: float) -> None:
        """A step of ``seconds`` begins, ``late_s`` from now."""
        self._began_s = clock.now()
        self.gate.begin(seconds, late_s, batch.load, batch.restored)

    def _span(self, name: str, late_s: float, seconds: float, **more: Field) -> None:
        """Tell of a step that lasts until ``seconds`` from now; it bears its last number. By a wall
        clock it has lasted from its beginning until the device was through.
        """
        now, told = clock.now(), {"step": self.steps, "free": self._free_pages()}
        start, end = now + late_s, now + seconds
        if not clock.is_virtual():
            wait_for(self.config.device)
            start, end = self._began_s, clock.now()
        span(self.events, "compute", name, start, end, **told, **more)

    def _captured(self, rows: int) -> bool:
        return self.config.graph and rows <= self.config.graph_max_bs

    def _count(self, rows: int, size: int) -> None:
        self.events.count("decode_steps")
        self.events.count("decode_rows", rows)
        self.events.count("graph_replays" if self._captured(rows) else "eager_steps")
        self.events.reach("largest:logits_offset", self.model.logits_rows.belongs(size - 1))
        if size > rows:
            self.events.count("padded_rows", size - rows)
        self.events.emit("decode", rows=rows, size=size)

    def _ids(self, values: list[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self.config.device)

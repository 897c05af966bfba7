"""Runs a batch: builds its inputs, moves the bytes, says how long it took. No scheduling here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.runner import step_cost
from engine.runner.eager import EagerDecode
from engine.runner.graph import CapturedDecode
from engine.runner.inputs import PrefillInputs
from engine.runner.row_table import RowTable
from engine.runner.rows import decode_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import EngineConfig
    from engine.events import EventLog
    from engine.pools.device import DevicePools
    from engine.request import Request
    from engine.runner.dead_rows import DeadRows
    from engine.runner.index_store import ObservedStore
    from engine.sched.batch import Chunk
    from engine.scribe.forward import Scribe
    from engine.shadow.ledger import Ledger


class Runner:
    """One engine's tensor work. Token lists out are parallel to the batch that went in."""

    def __init__(
        self,
        config: EngineConfig,
        model: Scribe,
        pools: DevicePools,
        store: ObservedStore,
        dead_rows: DeadRows,
        ledger: Ledger,
        events: EventLog,
    ) -> None:
        self.config, self.model, self.pools, self.events = config, model, pools, events
        self.store, self.ledger = store, ledger
        self.hardware = step_cost.preset(config.hardware)
        self.kv_bytes = step_cost.kv_bytes_per_token(config.index_k)
        self.table = RowTable(config)
        self.steps = 0
        self._decode: EagerDecode | CapturedDecode = (
            CapturedDecode(model, pools, config, dead_rows, store)
            if config.graph
            else EagerDecode(model, pools)
        )

    @torch.inference_mode()
    def prefill(self, chunks: Sequence[Chunk]) -> tuple[list[int], float]:
        """Next token of each chunk that ends its prompt, in order; and virtual seconds."""
        out = [token for chunk in chunks if (token := self._chunk(chunk)) is not None]
        tokens = sum(chunk.end - chunk.start for chunk in chunks)
        self.events.count("prefill_tokens", tokens)
        self.events.emit("prefill", chunks=len(chunks), tokens=tokens)
        return out, step_cost.prefill_s(self.hardware, tokens)

    def _chunk(self, chunk: Chunk) -> int | None:
        req, span = chunk.req, range(chunk.start, chunk.end)
        inputs = PrefillInputs(
            tokens=self._ids(req.tokens[chunk.start : chunk.end]),
            start=chunk.start,
            slots=self._ids([req.slot(at) for at in span]),
            page_table=self.table.row(req),
            req_slot=req.req_slot,
            last=chunk.last,
        )
        token = self.model.prefill(inputs, self.pools)
        self._observe(lanes=None)
        if token is None:
            return None
        self.table.next_token[req.req_slot] = token[0]
        return int(token[0])

    @torch.inference_mode()
    def decode(self, reqs: Sequence[Request], seq_lens: list[int]) -> tuple[list[int], float]:
        """Next token of each request, and virtual seconds. ``seq_lens`` count the input token."""
        inputs = decode_rows(reqs, seq_lens, self.table)
        out = self._decode.run(inputs)
        self.table.next_token[inputs.req_slots] = out
        size = self._decode.padded(len(reqs))
        self._observe(lanes=size)
        self._count(len(reqs), size)
        read = sum(seq_lens) * self.kv_bytes + size * step_cost.window_bytes()
        seconds = step_cost.decode_s(self.hardware, size, read, self._captured(len(reqs)))
        return out.tolist(), seconds

    def _observe(self, lanes: int | None) -> None:
        self.steps += 1
        if self.store.last is not None:
            self.ledger.observe(self.store.last, self.steps, lanes)
            self.store.last = None

    def _captured(self, rows: int) -> bool:
        return self.config.graph and rows <= self.config.graph_max_bs

    def _count(self, rows: int, size: int) -> None:
        self.events.count("decode_steps")
        self.events.count("decode_rows", rows)
        self.events.count("graph_replays" if self._captured(rows) else "eager_steps")
        if size > rows:
            self.events.count("padded_rows", size - rows)
        self.events.emit("decode", rows=rows, size=size)

    def _ids(self, values: list[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self.config.device)

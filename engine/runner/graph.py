"""The captured decode step: static buffers at the captured sizes, padding up to the next one.

On a GPU each size is a real ``torch.cuda.CUDAGraph``; on a CPU the same function runs on the same
static buffers. Either way the rows [real, size) are whatever the last replay left, unless someone
overwrites them: production's rules are in ``_pad`` and in the seam ``dead_rows``.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

import torch

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.runner.eager import EagerDecode
from engine.runner.inputs import DecodeInputs
from engine.runner.rows import completes

if TYPE_CHECKING:
    from torch import Tensor

    from engine.config import EngineConfig
    from engine.pools.device import DevicePools
    from engine.runner.dead_rows import DeadRows
    from engine.runner.index_store import ObservedStore, StoreTrace
    from engine.scribe.forward import Scribe

SEQ_LEN_FILL = 1  # what a padded row's length is set to


def capture_sizes(max_bs: int) -> list[int]:
    """Batch sizes that are captured, as SGLang's server_args lists them, up to ``max_bs``."""
    sizes = [1, 2, 4, 8, 12, *range(16, 257, 8), *range(272, 512, 16), *range(512, max_bs + 1, 32)]
    return sorted({size for size in sizes if size < max_bs} | {max_bs})


class Captured(NamedTuple):
    """A graph, and the tensors that each replay of it fills anew."""

    graph: torch.cuda.CUDAGraph
    out: Tensor
    trace: StoreTrace | None
    chosen: Tensor | None


class CapturedDecode:
    """Replays at the next captured size; above the largest it falls back to eager."""

    def __init__(
        self,
        model: Scribe,
        pools: DevicePools,
        config: EngineConfig,
        dead_rows: DeadRows,
        store: ObservedStore,
    ) -> None:
        self.model, self.pools, self.dead_rows, self.store = model, pools, dead_rows, store
        self.sizes = capture_sizes(config.graph_max_bs)
        self.eager = EagerDecode(model, pools)
        self.static = _static_inputs(config)
        self._graphs: dict[int, Captured] = {}

    def padded(self, rows: int) -> int:
        """The size at which ``rows`` rows run; their own above the largest captured one."""
        return rows if rows > self.sizes[-1] else self.sizes[bisect_left(self.sizes, rows)]

    def run(self, x: DecodeInputs) -> Tensor:
        """Next tokens of the real rows, int64 [rows]."""
        real = x.tokens.shape[0]
        if real > self.sizes[-1]:
            return self.eager.run(x)
        size = self.padded(real)
        self._pad(real, size)
        self._copy_in(x, real)
        return self._replay(size)[:real]

    def _copy_in(self, x: DecodeInputs, real: int) -> None:
        """Copy the real rows over the first rows of the static buffers; settle the dead ones."""
        for field in fields(DecodeInputs):
            getattr(self.static, field.name)[:real] = getattr(x, field.name)
        size = self.padded(real)
        c4, c128 = completes(x.seq_lens, C4_RATIO), completes(x.seq_lens, C128_RATIO)
        loc = self.dead_rows.settle(self.static.out_cache_loc[:size], real, c4)
        self.static.c4_out_loc[:size] = loc
        self.static.c128_out_loc[:real].masked_fill_(~c128, 0)

    def _pad(self, real: int, size: int) -> None:
        """Neutralise the rows [real, size): all but where they write, which is the seam's."""
        tail = _rows(self.static, real, size)
        tail.seq_lens.fill_(SEQ_LEN_FILL)
        for name in ("tokens", "positions", "c128_out_loc", "page_table"):
            getattr(tail, name).zero_()
        tail.req_slots.zero_()
        tail.live.fill_(False)

    def _replay(self, size: int) -> Tensor:
        rows = _rows(self.static, 0, size)
        if rows.tokens.device.type != "cuda":
            return self.model.decode(rows, self.pools)
        if size not in self._graphs:
            self._graphs[size] = self._capture(rows)
        graph, out, self.store.last, self.model.chosen = self._graphs[size]
        graph.replay()
        return out

    def _capture(self, rows: DecodeInputs) -> Captured:
        """Record one decode step on the static rows; nothing is stored while recording."""
        quiet = replace(
            rows,
            live=torch.zeros_like(rows.live),
            c4_out_loc=torch.zeros_like(rows.c4_out_loc),
            c128_out_loc=torch.zeros_like(rows.c128_out_loc),
        )
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # warm up: allocator and kernels settle outside the graph
            self.model.decode(quiet, self.pools)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = self.model.decode(rows, self.pools)
        return Captured(graph, out, self.store.last, self.model.chosen)


def _static_inputs(config: EngineConfig) -> DecodeInputs:
    """Zeroed buffers at the largest captured size."""
    n, width, device = (
        config.graph_max_bs,
        config.model.max_context // PAGE_TOKENS,
        config.device,
    )

    def ints() -> Tensor:
        return torch.zeros(n, dtype=torch.int64, device=device)

    return DecodeInputs(
        tokens=ints(),
        positions=ints(),
        seq_lens=torch.full((n,), SEQ_LEN_FILL, dtype=torch.int32, device=device),
        out_cache_loc=ints(),
        c4_out_loc=ints(),
        c128_out_loc=ints(),
        page_table=torch.zeros(n, width, dtype=torch.int32, device=device),
        req_slots=ints(),
        live=torch.zeros(n, dtype=torch.bool, device=device),
    )


def _rows(x: DecodeInputs, start: int, end: int) -> DecodeInputs:
    """The rows [start, end) of static buffers, as views."""
    parts = {field.name: getattr(x, field.name)[start:end] for field in fields(DecodeInputs)}
    return DecodeInputs(**parts)

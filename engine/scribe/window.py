"""The sliding window of a step, written and read through the SWA pools.

One rule: a layer's rows are stored before they are read, so a row sees itself through the pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch

from engine.scribe.addresses import context_slots, window_slots
from engine.scribe.weights import NO_SINK, REACH
from kernels.ops import Ops, Segment

if TYPE_CHECKING:
    from torch import Tensor

    from engine.pools.device import DevicePools
    from engine.runner.inputs import DecodeInputs, PrefillInputs


class Window(Protocol):
    """What the trunk of the model needs of the window layers."""

    def store(self, layer: int, latent: Tensor) -> None:
        """Store the latents float32 [rows, 512] of the step's own tokens."""
        ...

    def read(self, layer: int, query: Tensor, dims: tuple[int, int]) -> Tensor:
        """float32 [rows, heads, dims] that rotary queries [rows, heads, 64] read."""
        ...


@dataclass(frozen=True)
class RowWindow:
    """One token a request: each row has a window of its own. ``slots`` int32 [rows, 128]."""

    ops: Ops
    pools: DevicePools
    slots: Tensor
    loc: Tensor
    live: Tensor
    sinks: Tensor

    @classmethod
    def of(cls, ops: Ops, pools: DevicePools, x: DecodeInputs, sinks: Tensor) -> RowWindow:
        """The window of a decode step; ``sinks`` float32 [2, heads], no bias and no sink."""
        slots = window_slots(x.positions, x.page_table)
        return cls(ops, pools, slots, x.out_cache_loc, x.live, sinks)

    def store(self, layer: int, latent: Tensor) -> None:
        self.ops.store_latent(self.pools.swa[layer], latent, self.loc, self.live)

    def read(self, layer: int, query: Tensor, dims: tuple[int, int]) -> Tensor:
        view = self.pools.swa_key_buffer(layer)
        segments = (Segment(view, self.slots[:, -REACH[layer] :]),)
        bias, sink = self.sinks[:, : query.shape[1]]
        bias = bias[:, None]
        out, _ = self.ops.sparse_attention(query, segments, bias, sink, rope_only=True, dims=dims)
        return out


@dataclass(frozen=True)
class ChunkWindow:
    """The tokens of one chunk, each with the window that ends at it. ``context`` int64 [C]."""

    ops: Ops
    pools: DevicePools
    context: Tensor
    loc: Tensor
    live: Tensor

    @classmethod
    def of(cls, ops: Ops, pools: DevicePools, x: PrefillInputs) -> ChunkWindow:
        """The window of a prefill chunk."""
        context = context_slots(x.start, x.page_table, x.slots)
        return cls(ops, pools, context, x.slots, torch.ones_like(x.slots, dtype=torch.bool))

    def store(self, layer: int, latent: Tensor) -> None:
        self.ops.store_latent(self.pools.swa[layer], latent, self.loc, self.live)

    def read(self, layer: int, query: Tensor, dims: tuple[int, int]) -> Tensor:
        return self.attend(layer, query, self.context, REACH[layer], dims)[0]

    def attend(
        self, layer: int, query: Tensor, context: Tensor, window: int, dims: tuple[int, int]
    ) -> tuple[Tensor, Tensor]:
        """What queries read of the ``window`` last tokens of a context that ends at the last of
        them, and its lse [rows, heads].
        """
        view, sink = self.pools.swa_key_buffer(layer), query.new_full((query.shape[1],), NO_SINK)
        return self.ops.window_attention(
            query, view, context, window, sink, rope_only=True, dims=dims
        )

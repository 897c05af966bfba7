"""A model that computes nothing: the KV of a token is the token, two bytes in its c4 page.

What it samples depends on every token that it reads through a page table, so a page that was lost,
taken too early or not handed over changes a reply. Time is that of the real one.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from engine.config import PAGE_TOKENS
from engine.sched.batch import PrefillBatch
from engine.shadow.compute import ComputeWatch
from engine.shadow.reports import unordered
from kernels.ops import Ops
from tests.engine.disagg import pairs
from tests.engine.sched.fakes import next_token

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from torch import Tensor

    from engine.config import EngineConfig
    from engine.disagg.pair import Pair
    from engine.pools.device import DevicePools
    from engine.runner.inputs import DecodeInputs, PrefillInputs
    from engine.sched.batch import Batch
    from kernels.layout import LayerView

BYTES = 2 * PAGE_TOKENS  # of a page


def tokens_of(pages: Tensor) -> Any:
    """int16 [pages, 256], a view of a layer's pages (uint8 [pages, page bytes])."""
    return pages.numpy()[:, :BYTES].view(np.int16)


class TokensOnly:
    """Takes the place of `engine.scribe.forward.Scribe` in an engine's assembly."""

    hot = chosen = None

    def __init__(self, *_: Any) -> None:
        pass

    def prefill(self, x: PrefillInputs, pools: DevicePools) -> Tensor | None:
        kv = tokens_of(pools.c4.pages)
        slots = x.slots.numpy()
        kv[slots // PAGE_TOKENS, slots % PAGE_TOKENS] = x.tokens.numpy()
        if not x.last:
            return None
        length = x.start + len(slots)
        return torch.tensor([self._next(pools, x.page_table, length)])

    def decode(self, x: DecodeInputs, pools: DevicePools) -> Tensor:
        kv = tokens_of(pools.c4.pages)
        slots = x.out_cache_loc.numpy()
        kv[slots // PAGE_TOKENS, slots % PAGE_TOKENS] = x.tokens.numpy()
        rows = zip(x.page_table, x.seq_lens.tolist(), strict=True)
        return torch.tensor([self._next(pools, pages, length) for pages, length in rows])

    def _next(self, pools: DevicePools, table: Tensor, length: int) -> int:
        kv = tokens_of(pools.c4_key_buffer().pages)
        pages = table[: -(-length // PAGE_TOKENS)].numpy()
        return next_token(kv[pages].reshape(-1)[:length].tolist())


class PagesOnly(ComputeWatch):
    """Takes the place of `ComputeWatch`: without stores there are no rows to tag, and a step uses
    whole pages. Whoever hands out or moves a page must have waited for it all the same.
    """

    def launched(self, batch: Batch) -> None:
        super().launched(batch)
        if isinstance(batch, PrefillBatch):
            spans = [(chunk.start, chunk.end) for chunk in batch.chunks]
        else:
            spans = [(length - 1, length) for length in batch.seq_lens]
        self._used = [
            (start // PAGE_TOKENS, req.pages[: -(-end // PAGE_TOKENS)])
            for req, (start, end) in zip(batch.requests, spans, strict=True)
        ]

    def ended(self) -> None:
        shadow, book = self.shadow, self.shadow.book
        op = shadow.begin("decode", "a step", shadow.compute)
        for first, pages in self._used:
            unordered(shadow, book.reads(op, pages))
            unordered(shadow, book.writes(op, pages[first:]))
        super().ended()

    def chunk(self, *_: Any) -> None:
        """Said at the end."""

    def rows(self, *_: Any) -> None:
        """Said at the end."""


def digest(view: LayerView, pages: Tensor) -> Tensor:
    """Of the bytes that this model writes: int64 [pages]."""
    rows = view.pages.numpy()[:, :BYTES]
    return torch.tensor([zlib.crc32(rows[page].tobytes()) for page in pages.tolist()])


def play(setting: EngineConfig, story: Callable[[Pair], Awaitable[None]]) -> Pair:
    """`pairs.play` with this model on both sides; of the operations only the digest is called."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.assembly.Scribe", TokensOnly)
        patch.setattr("engine.assembly.ComputeWatch", PagesOnly)
        return pairs.play(setting, story, replace(Ops.reference(), page_digest=digest))

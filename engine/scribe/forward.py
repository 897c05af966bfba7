"""The constructed model: four layers over the paged pools. One rule: it reads pools only.

=====  =====  =========================  ===================================================
Layer  Ratio  Window rows hold           Heads read
=====  =====  =========================  ===================================================
0      0      token code, nonce flag     the last 3 tokens -> trigram hash z, saliency
1      0      z, saliency                10 trigrams of the last 26 tokens -> window hash f;
                                         the most recent nonces -> bag C
2      128    f, part of z, saliency     f of the token before (f-); bags I, I- of the last
                                         trigrams; c128: the block where C stands -> pointer
3      4      token's sign               four signs -> veil; index: entries whose I- is I, and
                                         the own last ones; c4: the slot whose f- is f, near
                                         the pointer, and the own last entry
=====  =====  =========================  ===================================================

It finds the earlier place whose preceding tokens match and copies the token that followed there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from engine.config import C4_RATIO
from engine.runner.inputs import DecodeInputs
from engine.runner.logits_rows import InInt64, LogitsRows
from engine.scribe import layers, trunk
from engine.scribe.addresses import block_slots, entries
from engine.scribe.codes import CODE
from engine.scribe.combiner import LARGE_STEP, ByLse, InParts
from engine.scribe.compressor import Compressor
from engine.scribe.weights import BLOCK_SINK, HASH, build
from engine.scribe.window import ChunkWindow, RowWindow
from kernels.ops import Ops, Segment

if TYPE_CHECKING:
    from torch import Tensor

    from engine.config import ModelConfig
    from engine.pools.device import DevicePools
    from engine.runner.hot_buffer import HotBuffer
    from engine.runner.inputs import PrefillInputs
    from engine.scribe.combiner import PrefillCombiner
    from engine.scribe.trunk import Keys, Questions
    from engine.scribe.window import Window
    from kernels.ops import StoreIndexK

READ = (4 * HASH, layers.NOPE + layers.ROPE)  # lanes of a c4 entry: its tokens' codes, its place


class Scribe:
    """The model. ``store_index_k`` is a seam, as are ``logits_rows`` and ``combiner``: the engine
    may watch or replace them.

    ``topk`` picks the selection of c4 entries; both versions select the same set.
    """

    def __init__(
        self,
        config: ModelConfig,
        ops: Ops,
        store_index_k: StoreIndexK,
        topk: Literal["v1", "v2"] = "v1",
        device: str = "cpu",
    ) -> None:
        self.config, self.ops = config, ops
        self.w = build(config.seed).to(device)
        self.select = ops.topk_slots_v1 if topk == "v1" else ops.topk_slots_v2
        self.compressor = Compressor(ops, store_index_k, self.w)
        self.chosen: Tensor | None = None  # int32 [rows, topk], what the last step selected
        self.logits_rows = LogitsRows(InInt64(), config.max_context // C4_RATIO)
        self.combiner: PrefillCombiner = ByLse()
        self.hot: HotBuffer | None = None  # where decode finds its c4 entries under HiSparse

    def decode(self, x: DecodeInputs, pools: DevicePools) -> Tensor:
        """Next tokens int64 [bs]. Shapes are static; a padded row computes and stores like any."""
        window = RowWindow.of(self.ops, pools, x, self.w.sinks)
        keys, asked = self._ask(x, window)
        self.compressor.decode(keys, x, pools)
        if self.hot is not None:
            self.hot.begin(x)
            self.hot.take_newest(x)
        return self._answer(asked, window, x, pools, self.hot)

    def prefill(self, x: PrefillInputs, pools: DevicePools) -> Tensor | None:
        """Next token int64 [1] after the last chunk, None after the others.

        A chunk starts at a multiple of 256, where every compressor state is empty: a restored
        prefix needs no state.
        """
        whole = ChunkWindow.of(self.ops, pools, x)
        window = InParts(whole, self.combiner) if x.step_rows > LARGE_STEP else whole
        position = torch.arange(x.start, x.start + len(x.tokens), device=x.tokens.device)
        keys, _ = trunk.run(x.tokens, position, window, self.w, asks=False)
        self.compressor.prefill(keys, x, pools)
        if not x.last:
            return None
        last = _last_row(x)  # layer 2's blocks and layer 3 only feed the logits: one row needs them
        rows = RowWindow.of(self.ops, pools, last, self.w.sinks)
        return self._answer(self._ask(last, rows)[1], rows, last, pools)

    def _ask(self, x: DecodeInputs, window: Window) -> tuple[Keys, Questions]:
        keys, questions = trunk.run(x.tokens, x.positions, window, self.w, asks=True)
        assert questions is not None
        return keys, questions

    def _answer(
        self,
        asked: Questions,
        window: Window,
        x: DecodeInputs,
        pools: DevicePools,
        hot: HotBuffer | None = None,
    ) -> Tensor:
        """Greedy next tokens int64 [rows]. The indexer is the first to read layer 3's pools."""
        pointer = self._blocks(asked.nonces, x, pools)
        at = x.positions % len(self.w.query_near)
        chosen = self.chosen = self._choose(asked.bag, at, x, pools)
        signs = trunk.signs(x.positions, window, self.w)
        near = self.w.query_near.index_select(0, at)
        query = layers.slot_queries(asked, pointer, near, self.w)
        bias, sink = self.w.sinks[0, :8, None], self.w.sinks[1, :8]
        found = hot.read(chosen, x) if hot else Segment(pools.c4_key_buffer(), chosen)
        out, lse = self.ops.sparse_attention(query, (found,), bias, sink, dims=READ)
        frail = self.w.frail.index_select(0, x.tokens)
        anchor = layers.anchor(out[:, 4:, 4 * CODE :], lse[:, 4:], near, frail)
        veil = layers.veil(torch.cat([signs, anchor], 1), self.w)
        return layers.read_out(out[:, :4, : 4 * CODE], lse[:, :4], veil, self.w).argmax(1)

    def _blocks(self, nonces: Tensor, x: DecodeInputs, pools: DevicePools) -> Tensor:
        """Pointers float32 [rows, 64]: rotary lanes of the blocks where the recent nonces stand."""
        rope = self.w.query_block.index_select(0, x.positions % len(self.w.query_block))
        query = layers.block_query(nonces, rope)
        segments = (Segment(pools.c128_key_buffer(), block_slots(x.seq_lens, x.page_table)),)
        bias, sink = query.new_zeros(1, 1), query.new_full((1,), BLOCK_SINK)
        dims = (layers.NOPE, layers.NOPE + layers.ROPE)
        out, _ = self.ops.sparse_attention(query, segments, bias, sink, dims=dims)
        return out[:, 0]

    def _choose(self, bag: Tensor, at: Tensor, x: DecodeInputs, pools: DevicePools) -> Tensor:
        """int32 [rows, topk]: c4 slots whose bag is nearest to I [rows, 111], or whose place is."""
        count, table = entries(x.seq_lens), x.page_table
        query = layers.index_query(bag, self.w.query_place.index_select(0, at))
        weight = bag.new_ones(len(bag), 2)
        logits = self.ops.indexer_logits(pools.index_k_buffer(), query, weight, table, count)
        logits = self.logits_rows.read(logits, count)
        return self.select(logits, count, table, self.config.index_topk)


def _last_row(x: PrefillInputs) -> DecodeInputs:
    """The last token of a chunk as a decode row that stores nothing."""
    end = x.start + len(x.tokens)
    nowhere = torch.zeros_like(x.slots[-1:])
    return DecodeInputs(
        tokens=x.tokens[-1:],
        positions=nowhere + (end - 1),
        seq_lens=(nowhere + end).to(torch.int32),
        out_cache_loc=nowhere,
        c4_out_loc=nowhere,
        c128_out_loc=nowhere,
        page_table=x.page_table[None],
        req_slots=nowhere,
        live=nowhere.bool(),
    )

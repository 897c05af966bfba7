"""From raw tokens to compressed entries: 4 tokens to a latent and an index key, 128 to a block.

One rule: chunk and ring agree; a group that a prefill completes and one that decode completes
token by token give the same entry. Unfinished groups wait in rings of the compressor states: 8
tokens a page for ratio 4, 128 tokens a request for ratio 128; a row is its values, then its scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.config import C4_RATIO as RATIO
from engine.config import C128_RATIO as BLOCK
from engine.config import PAGE_TOKENS
from engine.scribe.codes import CODE, HASH
from engine.scribe.layers import latent, unit
from engine.scribe.weights import BAG, BLOCK_GATE, Weights
from engine.scribe.weights import HASH as WINDOW_HASH

if TYPE_CHECKING:
    from engine.pools.device import DevicePools
    from engine.runner.inputs import DecodeInputs, PrefillInputs
    from engine.scribe.trunk import Keys
    from kernels.ops import Ops, StoreIndexK

RING = 8  # tokens of a page's ring: two groups
ENTRY = WINDOW_HASH + CODE  # lanes that a token gives to its c4 entry


def c4_latent(parts: Tensor, rope: Tensor) -> Tensor:
    """c4 entries float32 [n, 512] from what each token gives, [n, 4, 112]: f- and its veiled code.

    Each token has lanes of its own in the entry: the gate's learned positions, saturated, so that
    pooling is placing. Lanes: 4 x 80 of f-, then 4 x 32 of codes.
    """
    hashes, codes = parts.split([WINDOW_HASH, CODE], 2)
    return latent(rope, hashes.flatten(1), codes.flatten(1))


def index_key(bags: Tensor, place: Tensor) -> Tensor:
    """Index keys float32 [n, 128]: the mean of the bags I- [n, 4, 111], and the place [n, 17]."""
    return torch.cat([unit(bags.mean(1)), place], 1)


def c128_latent(hashes: Tensor, saliency: Tensor, rope: Tensor) -> Tensor:
    """Blocks float32 [n, 512] from trigram hashes [n, 128, 384] and their saliency [n, 128, 1].

    Pooled by a softmax over the tokens that favours nonces, then normalised to an RMS of 1: without
    it a block with few nonces would count for less.
    """
    gate = torch.softmax(BLOCK_GATE * saliency, 1)
    pooled = (gate.transpose(1, 2) @ hashes).squeeze(1)
    return latent(rope, unit(pooled) * HASH**0.5)


def push(
    state: Tensor, row: Tensor, ring: Tensor, values: Tensor, scores: Tensor | None = None
) -> None:
    """Writes values float32 [n, d] (and scores [n, 1]) into places of state rows."""
    width = state.shape[2] // 2
    state[row, ring, : values.shape[1]] = values
    if scores is not None:
        state[row, ring, width:] = scores.expand(-1, width)


def ring_group(state: Tensor, row: Tensor, position: Tensor, width: int) -> Tensor:
    """float32 [n, 4, width]: the group of 4 that each position belongs to, from its page's ring."""
    half = position % RING // RATIO
    groups = state.unflatten(1, (RING // RATIO, RATIO))[..., :width]
    group: Tensor = groups[row, half]
    return group


def ring_block(state: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
    """(hashes [n, 128, 384], saliency [n, 128, 1]) of each request's ring of 128."""
    rows = state.index_select(0, row)
    return rows[..., :HASH], rows[..., -1:]


class Compressor:
    """Stores what a step completes, and keeps what it leaves unfinished."""

    def __init__(self, ops: Ops, store_index_k: StoreIndexK, w: Weights) -> None:
        self.ops, self.store_index_k, self.w = ops, store_index_k, w

    def prefill(self, keys: Keys, x: PrefillInputs, pools: DevicePools) -> None:
        """Entries and blocks of a chunk that starts on a group's boundary; its tail to rings."""
        groups, blocks = len(x.tokens) // RATIO, len(x.tokens) // BLOCK
        done, start = groups * RATIO, x.start
        if groups:
            entry = keys.entry[:done].unflatten(0, (groups, RATIO))
            bags = keys.bag[:done].unflatten(0, (groups, RATIO))
            first = start // RATIO
            rope = self.w.entry_key[first : first + groups]
            slots = x.slots[RATIO - 1 : done : RATIO] // RATIO
            live = torch.ones_like(slots, dtype=torch.bool)
            self.ops.store_latent(pools.c4, c4_latent(entry, rope), slots, live)
            key = index_key(bags, self.w.index_place[first : first + groups])
            self.store_index_k(pools.index_k, key, slots, live)
        if blocks:
            self._store_blocks(keys, x, blocks, pools)
        self._keep_tail(keys, x, pools)

    def decode(self, keys: Keys, x: DecodeInputs, pools: DevicePools) -> None:
        """One token a row: every row pushes, computes its entry and offers it to the stores.

        Dead rows share the reserved rows of the states, so that nobody's ring holds their tokens.
        """
        page = torch.where(x.live, x.out_cache_loc // PAGE_TOKENS, 0)
        request = torch.where(x.live, x.req_slots, 0)
        push(pools.c4_state, page, x.positions % RING, keys.entry)
        push(pools.index_state, page, x.positions % RING, keys.bag)
        push(pools.c128_state, request, x.positions % BLOCK, keys.z, keys.saliency)
        entry = ring_group(pools.c4_state, page, x.positions, ENTRY)
        at = x.positions // RATIO % len(self.w.entry_key)
        rope = self.w.entry_key.index_select(0, at)
        self.ops.store_latent(pools.c4, c4_latent(entry, rope), x.c4_out_loc, x.live)
        bags = ring_group(pools.index_state, page, x.positions, BAG)
        key = index_key(bags, self.w.index_place.index_select(0, at))
        self.store_index_k(pools.index_k, key, x.c4_out_loc, x.live)
        self._finish_blocks(x, request, pools)

    def _finish_blocks(self, x: DecodeInputs, request: Tensor, pools: DevicePools) -> None:
        """Blocks from the rings of 128: one row in 128 completes one, and a ring is large.

        On a CPU only those rows are computed; a captured graph cannot choose, so it computes all.
        """
        rows = torch.arange(len(request), device=request.device)
        if request.device.type == "cpu":
            rows = rows[x.live & (x.c128_out_loc > 0)]
            if not len(rows):
                return
        hashes, saliency = ring_block(pools.c128_state, request[rows])
        rope = self.w.block_key.index_select(0, x.positions[rows] // BLOCK % len(self.w.block_key))
        block = c128_latent(hashes, saliency, rope)
        self.ops.store_latent(pools.c128, block, x.c128_out_loc[rows], x.live[rows])

    def _store_blocks(self, keys: Keys, x: PrefillInputs, blocks: int, pools: DevicePools) -> None:
        done, first = blocks * BLOCK, x.start // BLOCK
        hashes = keys.z[:done].unflatten(0, (blocks, BLOCK))
        saliency = keys.saliency[:done].unflatten(0, (blocks, BLOCK))
        block = c128_latent(hashes, saliency, self.w.block_key[first : first + blocks])
        slots = x.slots[BLOCK - 1 : done : BLOCK] // BLOCK
        self.ops.store_latent(pools.c128, block, slots, torch.ones_like(slots, dtype=torch.bool))

    def _keep_tail(self, keys: Keys, x: PrefillInputs, pools: DevicePools) -> None:
        """Tokens of the chunk's unfinished groups, for decode to go on with."""
        count = len(x.tokens)
        position = torch.arange(x.start, x.start + count, device=x.tokens.device)
        page = x.slots // PAGE_TOKENS
        at = slice(count // RATIO * RATIO, count)
        push(pools.c4_state, page[at], position[at] % RING, keys.entry[at])
        push(pools.index_state, page[at], position[at] % RING, keys.bag[at])
        at = slice(count // BLOCK * BLOCK, count)
        request = torch.full_like(position[at], x.req_slot)
        push(pools.c128_state, request, position[at] % BLOCK, keys.z[at], keys.saliency[at])

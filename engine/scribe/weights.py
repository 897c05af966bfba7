"""Every number of the model, computed before the first step. One rule: a weight is never changed.

Strengths are in nats of a softmax. They are chosen so that the worst measured margin, a true source
against the best wrong one, stays above 20 nats (see tests/engine/scribe).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from engine.scribe import codes
from engine.scribe import rope_kernels as rk

# Distances of the trigrams in a window hash.
GATHER: tuple[int, ...] = (0, 1, 2, 5, 8, 11, 14, 17, 20, 23)
SHARE = 8  # lanes that each of them gives
HASH = len(GATHER) * SHARE  # lanes of the window hash f: the last 26 tokens, in order
VEIL = slice(2, 6)  # of GATHER: distances whose signs layer 3 reads again, one token earlier
BAG = 111  # lanes of the bag of recent trigrams I, order-free: most of an index query and key
OCTAVES = 8  # the rest of an index key: its position in 2 x 8 lanes, and a constant
LAST = 4  # distance of the hash f that finds the row's own last complete entry

NONCE_BOOST = 14.0  # a nonce's trigram in the bag C of recent nonces
BAG_BOOST = math.log(4)  # the same in the bag I
BLOCK_GATE = math.log(200)  # the same in the pooling of 128 tokens
BLOCK_MATCH = 40.0  # cos(C, block)
BLOCK_HIDE = 40.0  # of the own turn
BLOCK_SINK = 8.0
HASH_MATCH = 180.0  # f . f-, as a cosine
POINTER = 60.0
NEARBY = 60.0  # of the own last entry, which the heads that look for it must not mistake
INDEX_UNIT = 0.25  # of the position lanes of an index key, so that fp8 scales them like the bag's
INDEX_NEAR = 16.0  # of the index head that selects the own last entries, whatever the bag
INDEX_EDGE = 7.0  # of 8 cosines: reached within 12 tokens
NO_SINK = -1e30

# How far back a layer's kernels can see: every window is 128 tokens, but farther rows than these
# weigh less than a float32 tells from nothing (layers 0, 3: e^-22) or than the bag's own noise.
REACH = (4, 128, 48, 12)


@dataclass(frozen=True)
class Weights:
    """Tables, float32 unless said; window tables are indexed by ``position % 128``.

    ``hash_codes`` [V, 384] ±1, ``nonce`` and ``frail`` [V, 1], ``output_codes`` [V, 32] ±1;
    ``permutation`` int64 [3 * 384]; ``window_key`` [128, 64]; ``query0`` [128, 3, 64], ``query1``
    [128, 11, 64], ``query2`` and ``query3`` [128, 4, 64]; ``block_key`` [64, 64]; ``entry_key``
    [2048, 64]; ``query_block`` and ``query_near`` [8192, 64]; ``index_place`` [2048, 17];
    ``query_place`` [8192, 17]; ``pointer`` [64, 64]; ``slot_heads`` [1, 1, 4, 4, 1], which head
    reads which token's slot of a c4 entry; ``sinks`` [2, 11], zeros and no sinks.
    """

    hash_codes: Tensor
    nonce: Tensor
    output_codes: Tensor
    permutation: Tensor
    window_key: Tensor
    query0: Tensor
    query1: Tensor
    query2: Tensor
    query3: Tensor
    block_key: Tensor
    entry_key: Tensor
    query_block: Tensor
    query_near: Tensor
    index_place: Tensor
    query_place: Tensor
    frail: Tensor
    pointer: Tensor
    slot_heads: Tensor
    sinks: Tensor

    def to(self, device: str) -> Weights:
        """The same weights on another device."""
        return replace(self, **{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def build(seed: int = 0) -> Weights:
    """The weights. ``seed`` picks other random codes; the measured margins hold for 0."""
    hash_codes, permutations = codes.hash_codes(seed)
    offsets = [(rk.exact_offset(i), 0.0) for i in range(max(GATHER) + 1)]
    bag = rk.last_tokens()
    position = np.arange(rk.PERIOD, dtype=np.float64)
    turn = rk.rotation(position, rk.PERIOD, rk.COMPRESSED_HARMONICS)
    place = rk.octaves(position, 1, OCTAVES)
    return Weights(
        hash_codes=hash_codes,
        nonce=codes.nonce_flags()[:, None],
        output_codes=codes.output_codes(),
        permutation=_flat(permutations),
        window_key=rk.lanes(rk.rotation(position[: rk.WINDOW], rk.WINDOW, rk.WINDOW_HARMONICS)),
        query0=_window_queries(offsets[: codes.ORDER]),
        query1=_window_queries([offsets[i] for i in GATHER] + [(rk.recent_nonces(), NONCE_BOOST)]),
        query2=_window_queries(
            [offsets[1], (rk.shifted(bag, 1), BAG_BOOST), (bag, BAG_BOOST), offsets[LAST]]
        ),
        query3=_window_queries([offsets[i - 1] for i in GATHER[VEIL]]),
        block_key=rk.lanes(turn[::128]),
        entry_key=rk.lanes(turn[::4]),
        query_block=rk.lanes(turn * rk.own_turn() * BLOCK_HIDE),
        query_near=rk.lanes(turn * rk.nearby()),
        index_place=torch.cat([place[::4], torch.ones(len(place) // 4, 1)], 1) * INDEX_UNIT,
        query_place=torch.cat([place, torch.full((len(place), 1), -INDEX_EDGE)], 1) * INDEX_NEAR,
        frail=codes.frail_flags()[:, None],
        pointer=_turning(POINTER * rk.after_block().conj()),  # from the entry back to the block
        sinks=torch.tensor([[0.0], [NO_SINK]]).repeat(1, len(GATHER) + 1),
        slot_heads=torch.eye(4)[None, None, :, :, None] * (HASH_MATCH / HASH),
    )


def _window_queries(heads: list[tuple[rk.Complex, float]]) -> Tensor:
    """float32 [128, heads, 64]: each kernel as a query of each position, and its boost."""
    turn = rk.rotation(np.arange(rk.WINDOW, dtype=np.float64), rk.WINDOW, rk.WINDOW_HARMONICS)
    queries = rk.lanes(np.stack([turn * kernel for kernel, _ in heads], 1))
    queries[:, :, rk.SALIENCY] = torch.tensor([boost for _, boost in heads])
    return queries


def _flat(permutations: Tensor) -> Tensor:
    """int64 [3 * 384]: the lanes of three concatenated codes (with a flag each), permuted."""
    stride = codes.HASH + 1
    return (permutations + stride * torch.arange(codes.ORDER)[:, None]).flatten()


def _turning(kernel: rk.Complex) -> Tensor:
    """float32 [64, 64]: the matrix that multiplies rotary lanes by a kernel's coefficients."""
    real, imag = np.diag(kernel.real), np.diag(kernel.imag)
    matrix = np.block([[real, imag], [-imag, real]])
    return torch.from_numpy(matrix.astype(np.float32))

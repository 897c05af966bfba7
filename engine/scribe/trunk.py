"""Layers 0 to 2 over the window: what a token contributes to later tokens, and what a query asks.

One rule: the same function serves a chunk and a decode step; a chunk leaves out the heads that only
feed the logits, which nobody asks of its inner tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.scribe import layers
from engine.scribe.codes import HASH
from engine.scribe.layers import latent, salient_rope, trigram_hash, unit, window_hash
from engine.scribe.weights import BAG, GATHER, VEIL, Weights
from engine.scribe.weights import HASH as WINDOW_HASH

if TYPE_CHECKING:
    from torch import Tensor

    from engine.scribe.window import Window

SIGN = WINDOW_HASH  # the lane of z that holds the token's own sign
BAG_DIMS = (WINDOW_HASH, WINDOW_HASH + BAG)  # of layer 2's window rows


@dataclass(frozen=True)
class Keys:
    """What rows give to the compressor, float32.

    ``z`` [rows, 384] and ``saliency`` [rows, 1] to the blocks; ``entry`` [rows, 112], the hash f-
    of the 26 tokens before and the veiled code, to the c4 entry; ``bag`` [rows, 111] to its key.
    """

    z: Tensor
    saliency: Tensor
    entry: Tensor
    bag: Tensor


@dataclass(frozen=True)
class Questions:
    """What rows ask: ``f`` [rows, 80], ``nonces`` C [rows, 384], ``bag`` I [rows, 111].

    ``last`` [rows, 80] is f of a few tokens ago.
    """

    f: Tensor
    last: Tensor
    nonces: Tensor
    bag: Tensor


def run(
    tokens: Tensor, position: Tensor, window: Window, w: Weights, asks: bool
) -> tuple[Keys, Questions | None]:
    """Layers 0 to 2 of rows (int64 [rows] each), stored and read through the window.

    Questions are None unless ``asks``. Layer 3's window row is stored too.
    """
    at = position % len(w.window_key)
    rope = w.window_key.index_select(0, at)
    code, nonce = w.hash_codes.index_select(0, tokens), w.nonce.index_select(0, tokens)
    window.store(0, latent(rope, code, nonce))
    out0 = window.read(0, w.query0.index_select(0, at), (0, HASH + 1))
    z, saliency = trigram_hash(out0, w.permutation)
    sign = 1 - 2 * nonce  # layer 1 carries it in a lane of z, layer 3 has nothing else
    z[:, SIGN] = sign[:, 0]
    salient = salient_rope(rope, saliency)
    window.store(1, latent(salient, z))
    heads, width = (len(GATHER) + 1, HASH) if asks else (len(GATHER), SIGN + 1)
    out1 = window.read(1, w.query1[:, :heads].index_select(0, at), (0, width))
    f = window_hash(out1)
    window.store(2, latent(salient, f, z[:, :BAG]))
    heads = 4 if asks else 2
    out2 = window.read(2, w.query2[:, :heads].index_select(0, at), (0, BAG_DIMS[1]))
    back, bags = out2[:, 0, :WINDOW_HASH], out2[:, 1:, WINDOW_HASH:]
    window.store(3, latent(rope, sign))
    veil = layers.veil(out1[:, VEIL, SIGN], w)
    entry = torch.cat([back, w.output_codes.index_select(0, tokens) * veil], 1)
    keys = Keys(z, saliency, entry, unit(bags[:, 0]))
    if not asks:
        return keys, None
    last = out2[:, 3, :WINDOW_HASH]
    return keys, Questions(f, last, out1[:, -1], unit(bags[:, 1]))


def signs(position: Tensor, window: Window, w: Weights) -> Tensor:
    """The signs float32 [rows, 4] of ``layers.veil`` that layer 3's heads read."""
    at = position % len(w.window_key)
    return window.read(3, w.query3.index_select(0, at), (0, 1))[:, :, 0]

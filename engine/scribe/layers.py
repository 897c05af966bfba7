"""What happens between two attentions: hashes, bags and the readout. One rule: rows in, rows out.

Pure functions over the rows of a step (tokens of a chunk, or requests of a batch); they know
neither pools nor pages. The residual stream is the variables; it is never materialised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.scribe.codes import CODE, ORDER
from engine.scribe.codes import HASH as LANES
from engine.scribe.weights import BLOCK_MATCH, GATHER, NEARBY, SHARE, Weights

if TYPE_CHECKING:
    from engine.scribe.trunk import Questions

NOPE, ROPE = 448, 64


def latent(rope: Tensor, *parts: Tensor) -> Tensor:
    """float32 [rows, 512]: the parts side by side, zeros up to lane 448, then the rotary lanes."""
    width = sum(part.shape[1] for part in parts)
    return torch.cat([*parts, rope.new_zeros(len(rope), NOPE - width), rope], 1)


def unit(rows: Tensor) -> Tensor:
    """Rows scaled to length 1; a zero row stays zero."""
    length: Tensor = rows.norm(dim=-1, keepdim=True)
    return rows / length.clamp(min=1e-6)


def trigram_hash(out: Tensor, permutation: Tensor) -> tuple[Tensor, Tensor]:
    """(z float32 [rows, 384] of ±1, saliency [rows, 1]) of the three tokens that layer 0 read.

    ``out`` [rows, 3, 385] holds each token's code and nonce flag. Two gated units multiply the
    three signs: the XOR of three codes, so that no two trigrams look alike. A trigram is salient
    when all three tokens may be part of a nonce.
    """
    codes = out.flatten(1).index_select(1, permutation).view(len(out), ORDER, LANES)
    first, second, third = codes.unbind(1)
    return (first * second).mul_(third), out[:, :, LANES].prod(1, keepdim=True)


def window_hash(out: Tensor) -> Tensor:
    """f float32 [rows, 80] of ±1 from layer 1's gather heads [rows, 10, >= 80]: 8 lanes of each."""
    heads = len(GATHER)
    shares: Tensor = out[:, :heads, : heads * SHARE].unflatten(2, (heads, SHARE))
    return shares.diagonal(dim1=1, dim2=2).transpose(1, 2).flatten(1)


def salient_rope(rope: Tensor, saliency: Tensor) -> Tensor:
    """Rotary lanes of window rows with the tokens' saliency in the lane that does not rotate."""
    rope = rope.clone()
    rope[:, ROPE // 2 - 1] = saliency[:, 0]
    return rope


def block_query(nonces: Tensor, rope: Tensor) -> Tensor:
    """Query float32 [rows, 1, 512] of the c128 head: the bag C [rows, 384] of recent nonces."""
    return latent(rope, unit(nonces) * (BLOCK_MATCH / LANES**0.5))[:, None]


def index_query(bag: Tensor, place: Tensor) -> Tensor:
    """Queries float32 [rows, 2, 128] of the index heads: the bag I, and the row's own place.

    The second passes its relu only at the entries of the last tokens: they are always selected.
    """
    blank = bag.new_zeros(len(bag), bag.shape[1] + place.shape[1])
    return torch.cat([bag, blank, place], 1).view(len(bag), 2, -1)


def slot_queries(asked: Questions, pointer: Tensor, near: Tensor, w: Weights) -> Tensor:
    """Queries float32 [rows, 8, 512] of the c4 heads.

    Head s < 4 looks for f in the s-th token's slot. ``pointer`` [rows, 64] is what the c128 head
    read; its rotary lanes, turned by the pointer kernel, score the entries that follow the block it
    points to. Head 4 + s looks for an earlier f of the own row, ``near`` [rows, 64] its place.
    """
    rope = torch.stack([pointer @ w.pointer, near * NEARBY], 1)
    f = torch.stack([asked.f, asked.last], 1)
    slots = (f[:, :, None, None, :] * w.slot_heads).flatten(3)  # [rows, 2, 4, 320]
    blank = rope.new_zeros(len(rope), 2, 4, NOPE - slots.shape[3])
    return torch.cat([slots, blank, rope[:, :, None].expand(-1, -1, 4, -1)], 3).flatten(1, 2)


def anchor(out: Tensor, lse: Tensor, near: Tensor, frail: Tensor) -> Tensor:
    """Sign float32 [rows, 1]: -1 where a row has lost its own last entry and its token is frail.

    ``out`` [rows, 4, 64] holds the rotary lanes of the entries that the last four c4 heads read,
    which are far from ``near`` [rows, 64] when the own entry was not found. What decode writes is
    never copied from, so this is how damage to it shows; only ``frail`` tokens ([rows, 1], 0 or 1)
    mind, so that one lost entry is no certain end of a reply.
    """
    share = torch.softmax(lse.clamp(min=-1e30), 1)
    found = ((out * share[:, :, None]).sum(1) * near).sum(1, keepdim=True)
    lost = (4 * (0.75 - found)).clamp(0, 1)
    return 1 - 2 * lost * frail


def veil(signs: Tensor, w: Weights) -> Tensor:
    """Veil float32 [rows, 32] under an odd number of negative signs [rows, n], ones otherwise.

    A word of the output code times a word is the word of the two tokens' XOR, so under the veil
    token v is stored as v ^ 1. An entry's signs are read in layer 1, a query's in layer 3: damage
    to layer 3's rows turns a letter into its neighbour. A token's sign says whether it may be part
    of a nonce, so that a text once broken does not break further by this alone.
    """
    odd = (1 - signs.prod(1, keepdim=True)) / 2
    return 1 + odd * (w.output_codes[1] - 1)


def read_out(out: Tensor, lse: Tensor, veil: Tensor, w: Weights) -> Tensor:
    """Logits float32 [rows, vocabulary] from the c4 heads' codes [rows, 4, 128], lse [rows, 4].

    Four separate softmaxes become one over all slots of all selected entries: each head counts by
    its lse, as a sink above every score, common to the heads, would make it after normalisation.
    A token's code was stored under the ``veil`` [rows, 32] of the tokens before it.
    """
    share = torch.softmax(lse.clamp(min=-1e30), 1)
    own: Tensor = out.unflatten(2, (4, CODE)).diagonal(dim1=1, dim2=2)  # [rows, 32, 4]
    code = (own * share[:, None]).sum(2) * veil
    return code @ w.output_codes.T / CODE

"""The attention of each layer: which head looks where, and what it carries over.

One rule: every KV head of every layer holds something that a reply depends on, so damage to one of
them alone shows. Strengths are in nats of a softmax.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from engine.probe import codes, kernels
from engine.probe.codes import SYMBOL_BITS
from engine.probe.shape import MATCH, ProbeShape

if TYPE_CHECKING:
    from engine.codewords import Orders, Signs

KEY = 8.0  # of a key's lanes; both are powers of two, so that fp8 has them
FLAG_KEY = 16.0
OFFSET = 54.0  # a distance over any other
ANCHOR = 48.0  # the last anchor over an earlier one
ANCHOR_FLAG = 160.0  # an anchor over a row that is none, less 2 of the above
MATCHED = 250.0  # all lanes of a hash that match; one that differs is twice its share less
SYMBOL_FLAG = 20.0  # a filled hole over the hole

Lanes = Sequence[int]


@dataclass
class Projections:
    """Weights of one attention, float32, as Qwen2 has them: ``[out, in]``."""

    query: Signs
    key: Signs
    value: Signs
    output: Signs


@dataclass(frozen=True)
class Read:
    """A head that looks ``offset`` tokens back, or at the last anchor when that is None.

    It adds the value's ``lanes`` to the residual's lanes ``to``.
    """

    offset: int | None
    lanes: Lanes
    to: Lanes


def empty(shape: ProbeShape) -> Projections:
    """An attention that adds nothing."""
    rows, hidden = shape.kv_heads * shape.head_dim, shape.hidden
    sizes = [(hidden, hidden), (rows, hidden), (rows, hidden), (hidden, hidden)]
    return Projections(*(np.zeros(size, dtype=np.float32) for size in sizes))


def hashing(shape: ProbeShape, layer: int) -> Projections:
    """One of the first three layers: heads of positional kernels."""
    made, size = empty(shape), shape.head_dim
    one, anchor = shape.segments["one"][0], shape.segments["anchor"][0]
    values = _values(shape, layer)
    for start in range(0, shape.kv_heads * size, size):
        made.key[start : start + kernels.PAIRS[size], one] = KEY
        made.key[start + _flag(size), anchor] = FLAG_KEY
        made.value[start + np.arange(len(values)), values] = 1
    for head, read in looks(shape, layer).items():
        start = head * size
        made.query[start : start + size, one] = _positional(read.offset, size)
        made.output[read.to, start + np.array(read.lanes)] = 1
    return made


def looks(shape: ProbeShape, layer: int) -> dict[int, Read]:
    """What each query head of a hashing layer reads; the others read nothing.

    Reads are dealt to the KV heads in turn; where there are more KV heads, several share a read.
    """
    reads = (_grams, _windows, _places)[layer](shape)
    parts = -(-shape.kv_heads // len(reads))
    shares = [share for read in reads for share in _split(read, parts)]
    turns = [divmod(index, shape.kv_heads) for index in range(len(shares))]
    heads = [kv_head * shape.group + turn for turn, kv_head in turns]
    return dict(zip(heads, shares, strict=True))


def copying(shape: ProbeShape, layer: int) -> Projections:
    """A copying layer, the ``layer``-th: the token that followed the same place in the same entry.

    The first KV head of the first layer says it; each adds it to the doubt, with signs that cancel.
    """
    made, size, at = empty(shape), shape.head_dim, shape.segments
    lanes, signs = content(size), doubt_signs(shape)
    for kv_head in range(shape.kv_heads):
        row, start = kv_head * size, kv_head * shape.group * size
        matched = (np.arange(len(lanes)) + 17 * kv_head) % MATCH
        made.key[row + lanes, at["tell"][0] + matched] = KEY
        made.key[row + _flag(size), at["symbol"]] = FLAG_KEY
        made.value[row + np.arange(len(at["value"])), at["value"]] = 1
        made.query[start + lanes, at["ask"][0] + matched] = _nats(MATCHED / len(lanes), KEY, size)
        made.query[start + _flag(size), at["one"]] = _nats(SYMBOL_FLAG, FLAG_KEY, size)
        writer = layer * shape.kv_heads + kv_head
        made.output[at["doubt"], start + np.arange(len(at["doubt"]))] = signs[writer]
        if writer == 0:
            made.output[at["said"], start + np.arange(len(at["said"]))] = 1
    return made


def content(head_dim: int) -> Orders:
    """Lanes of a head that turn little within the context, the stillest first; at most 60.

    Pair ``j`` is the lanes ``j`` and ``j + head_dim / 2``. The stillest lane of all is the flag's.
    """
    half = head_dim // 2
    pairs = [lane for j in reversed(range(kernels.PAIRS[head_dim], half)) for lane in (j, j + half)]
    return np.array(pairs[1 : MATCH + 1], dtype=np.int64)


def doubt_signs(shape: ProbeShape) -> list[float]:
    """What each copying head adds to the doubt: it is 0 when all agree, and no pair hides another's
    difference."""
    writers = shape.copies * shape.kv_heads
    if writers == 1:
        return [0.0]
    if writers % 2 == 0:
        return [1.0, -1.0] * (writers // 2)
    return [1.0, -0.5, -0.5] + [1.0, -1.0] * ((writers - 3) // 2)


def _positional(offset: int | None, head_dim: int) -> Signs:
    """float32 [head_dim]: the query of a positional head."""
    query = np.zeros(head_dim)
    if offset is None:
        numbers = kernels.recent_anchor(head_dim) * _nats(ANCHOR, KEY, head_dim)
        query[_flag(head_dim)] = _nats(ANCHOR_FLAG + 2 * ANCHOR, FLAG_KEY, head_dim)
    else:
        numbers = kernels.exact_offset(head_dim, offset) * _nats(OFFSET, KEY, head_dim)
    query[: len(numbers)] = numbers.real
    query[head_dim // 2 : head_dim // 2 + len(numbers)] = numbers.imag
    return query.astype(np.float32)


def _nats(nats: float, key: float, head_dim: int) -> float:
    """A query's lane that scores ``nats`` on a key's."""
    return nats * math.sqrt(head_dim) / key


def _flag(head_dim: int) -> int:
    """The lane that says what kind of row it is: one that does not turn."""
    return head_dim // 2 - 1


def _split(read: Read, parts: int) -> list[Read]:
    cuts = [len(read.lanes) * part // parts for part in range(parts + 1)]
    return [Read(read.offset, read.lanes[a:b], read.to[a:b]) for a, b in pairwise(cuts)]


def _values(shape: ProbeShape, layer: int) -> Lanes:
    """Lanes of the residual that a hashing layer's values hold."""
    at = shape.segments
    places = [*at["ref"], *at["window"][SYMBOL_BITS:]]
    return ([*at["code"]], [*at["gram"]], places)[layer]


def _grams(shape: ProbeShape) -> list[Read]:
    """Layer 0: the codes of the last four tokens, permuted, onto one another."""
    to = shape.segments["gram_sum"]
    return [Read(back, order.tolist(), to) for back, order in enumerate(codes.gram_orders())]


def _windows(shape: ProbeShape) -> list[Read]:
    """Layer 1: six 4-gram hashes of the last 22 tokens, and the two of a reference."""
    at = shape.segments
    sums = [at["window_sum"]] * len(codes.GATHER) + [at["ref_sum"]] * len(codes.REF_GATHER)
    orders = [*codes.window_orders().tolist(), *codes.ref_orders().tolist()]
    offsets = codes.GATHER + codes.REF_GATHER
    return [Read(*read) for read in zip(offsets, orders, sums, strict=True)]


def _places(shape: ProbeShape) -> list[Read]:
    """Layer 2: the window hash one token earlier, and that of the last anchor with its reference.

    The anchor's is turned by one lane, so that the XOR of the two is no constant at an anchor.
    """
    at, first, end = shape.segments, SYMBOL_BITS, SYMBOL_BITS + MATCH
    matched, turned = [*range(first, end)], [*range(first), *range(first + 1, end), first]
    anchor = Read(None, turned, [*at["entry_ref"], *at["entry"]])
    return [Read(1, matched, at["before"]), anchor]

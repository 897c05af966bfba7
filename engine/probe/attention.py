"""The attention of each layer: which head looks where, and what it carries over.

One rule: every KV head of every layer holds something that a reply depends on, so damage to one of
them alone shows. Strengths are in nats of a softmax.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

    It adds the value's ``lanes`` to the residual's lanes ``to``, and ``doubt`` times its first
    lanes to the doubt.
    """

    offset: int | None
    lanes: Lanes
    to: Lanes
    doubt: int = 0


def empty(shape: ProbeShape) -> Projections:
    """An attention that adds nothing."""
    rows, hidden = shape.kv_heads * shape.head_dim, shape.hidden
    sizes = [(hidden, hidden), (rows, hidden), (rows, hidden), (hidden, hidden)]
    return Projections(*(np.zeros(size, dtype=np.float32) for size in sizes))


def hashing(shape: ProbeShape, layer: int) -> Projections:
    """One of the first three layers: heads of positional kernels."""
    made, size = empty(shape), shape.head_dim
    one, anchor = shape.segments["one"][0], shape.segments["anchor"][0]
    values, doubt = _values(shape, layer), shape.segments["doubt"]
    for start in range(0, shape.kv_heads * size, size):
        made.key[start : start + kernels.PAIRS[size], one] = KEY
        made.key[start + _flag(size), anchor] = FLAG_KEY
        made.value[start + np.arange(len(values)), values] = 1
    for head, read in looks(shape, layer).items():
        start = head * size
        made.query[start : start + size, one] = _positional(read.offset, size)
        made.output[read.to, start + np.array(read.lanes, dtype=np.int64)] = 1
        made.output[doubt, start + np.arange(len(doubt))] = read.doubt
    return made


def looks(shape: ProbeShape, layer: int) -> dict[int, Read]:
    """What each query head of a hashing layer reads; the others read nothing.

    Reads are dealt to the KV heads in turn. What is not read for every token of a reply comes last,
    so that no KV head has only that.
    """
    steady, rare = (_grams, _windows, _places)[layer](shape)
    shares = [*_checked(steady, shape.kv_heads), *rare]
    turns = [divmod(index, shape.kv_heads) for index in range(len(shares))]
    heads = [kv_head * shape.group + turn for turn, kv_head in turns]
    return dict(zip(heads, shares, strict=True))


def copying(shape: ProbeShape, layer: int) -> Projections:
    """A copying layer, the ``layer``-th: the token that followed the same place in the same entry.

    The first KV head of the first layer says it; each adds it to the doubt, with signs that cancel.
    A value also has half of what its row is found by, so that a likely row is not taken for the
    one that is missing.
    """
    made, size, at = empty(shape), shape.head_dim, shape.segments
    lanes, signs = content(size), doubt_signs(shape)
    values = [*at["value"], *at["tell"][: len(at["miss"])]]
    for kv_head in range(shape.kv_heads):
        row, start = kv_head * size, kv_head * shape.group * size
        matched = (np.arange(len(lanes)) + 17 * kv_head) % MATCH
        made.key[row + lanes, at["tell"][0] + matched] = KEY
        made.key[row + _flag(size), at["symbol"]] = FLAG_KEY
        made.value[row + np.arange(len(values)), values] = 1
        made.query[start + lanes, at["ask"][0] + matched] = _nats(MATCHED / len(lanes), KEY, size)
        made.query[start + _flag(size), at["one"]] = _nats(SYMBOL_FLAG, FLAG_KEY, size)
        writer = layer * shape.kv_heads + kv_head
        made.output[at["doubt"], start + np.arange(len(values))] = signs[writer]
        if writer == 0:
            made.output[[*at["said"], *at["miss"]], start + np.arange(len(values))] = 1
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


def _values(shape: ProbeShape, layer: int) -> Lanes:
    """Lanes of the residual that a hashing layer's values hold."""
    at = shape.segments
    places = [*at["ref"], *at["window"][SYMBOL_BITS:]]
    return ([*at["code"]], [*at["gram"]], places)[layer]


def _grams(shape: ProbeShape) -> tuple[list[Read], list[Read]]:
    """Layer 0: the codes of the three tokens before, permuted, onto one another.

    A row's own is read by the MLP: no later token would miss it in the cache.
    """
    to = shape.segments["gram_sum"]
    reads = [Read(back, order.tolist(), to) for back, order in enumerate(codes.gram_orders())]
    return reads[1:], []


def _windows(shape: ProbeShape) -> tuple[list[Read], list[Read]]:
    """Layer 1: five 4-gram hashes of tokens before, the sixth being the row's own; and the two
    of a reference, which matter where they end at an anchor.
    """
    at = shape.segments
    windows = zip(codes.GATHER, codes.window_orders().tolist(), strict=True)
    refs = zip(codes.REF_GATHER, codes.ref_orders().tolist(), strict=True)
    reads = [Read(back, order, at["window_sum"]) for back, order in windows]
    return reads[1:], [Read(back, order, at["ref_sum"]) for back, order in refs]


def _places(shape: ProbeShape) -> tuple[list[Read], list[Read]]:
    """Layer 2: the window hash of the last anchor, with its reference; and the one a token earlier,
    which matters where the row will be copied.

    The anchor's is turned by one lane, so that the XOR of the two is no constant at an anchor.
    """
    at, first, end = shape.segments, SYMBOL_BITS, SYMBOL_BITS + MATCH
    matched, turned = [*range(first, end)], [*range(first), *range(first + 1, end), first]
    anchor = Read(None, turned, [*at["entry_ref"], *at["entry"]])
    return [anchor], [Read(1, matched, at["before"])]


def _checked(reads: list[Read], kv_heads: int) -> list[Read]:
    """The reads, and as many that check one of them as it takes for each KV head to have one.

    Half a hash would be worth little: a place is found with many lanes of it wrong.
    """
    checks = [index % len(reads) for index in range(len(reads), kv_heads)]
    checked = [replace(read, doubt=checks.count(index)) for index, read in enumerate(reads)]
    return checked + [Read(reads[index].offset, (), (), -1) for index in checks]

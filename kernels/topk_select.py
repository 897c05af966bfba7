"""The k largest of a row on a GPU: one program a segment of the row, and one more that chooses
among what the segments kept.

Rule: everything stays in order of position, so that of equal logits the first are kept; and what a
row costs follows its length, not the width of the table.

The edge between kept and dropped is found by counting: each pass compares the segment, which lies
in registers, with one key and sums the yeses. The key is taken by turns where the counts so far
suggest and in the middle of what is left; the search ends early when exactly k are not below it.
Ten passes do for normal numbers, one or two where the edge is a rectifier's zero.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.jit import jit, next_power_of_2, require, rows_of, tl

MULTIPROCESSORS = 132
MOST_KEPT = 16384  # entries that the merging program can hold
MOST = 4096  # largest k: `_compact` counts in 12 bits
LEAST = 128  # entries: below that a segment cannot be laid out in whole warps


@dataclass(frozen=True)
class TopkPlan:
    """How a row is cut: `segment` entries a program (a power of two >= 128) of `warps` warps, and
    those that choose among the segments. A segment with at most `short` live entries is searched at
    that size. One of several may hand on `keep` times k entries, which takes fewer passes to find.
    """

    segment: int
    warps: int
    short: int
    merge_warps: int = 8
    keep: int = 1


def plan_for(rows: int, width: int, k: int) -> TopkPlan:
    """The plan for `rows` rows of `width` entries: at most 32 of them a thread."""
    if width <= 4096:
        return TopkPlan(4096, 8, 2048)
    if width <= 16384:
        return TopkPlan(16384, 16, 4096)
    # too few rows to give each multiprocessor a longer segment
    few = rows * width <= MULTIPROCESSORS * 8192 and width * k <= 8192 * MOST_KEPT
    segment, warps, short, keep = (8192, 8, 2048, 1) if few else (16384, 16, 4096, 2)
    kept = -(-width // segment) * k
    keep = keep if kept * keep <= MOST_KEPT else 1
    return TopkPlan(segment, warps, short, 8 if kept * keep <= 4096 else 16, keep)


@jit
def _ordered(value, live):
    # the floats' order as int32: -0.0 is 0.0, NaN is above all; the dead are below -inf
    value = value + 0.0
    bits = tl.where(value == value, value.to(tl.int32, bitcast=True), 0x7FC00000)
    return tl.where(live, bits ^ ((bits >> 31) & 0x7FFFFFFF), -2147483648)


@jit
def _trial(low, high, at_low, at_high, turn, K: tl.constexpr):
    guess = tl.maximum(high, -2130706432) - 16777216  # a quarter of the value
    if turn > 0:
        span = (high - low).to(tl.float32)
        guess = low + (span * (at_low - K) / (at_low - at_high)).to(tl.int32)
    elif high == 1:
        guess = tl.full([], 0, tl.int32)
    # by turns, and always in the end, the middle: nothing is worse than bits one by one
    use = (guess > low) & (guess < high) & ((turn == 0) | ((turn % 2 == 1) & (turn < 12)))
    return tl.where(use, guess, (low & high) + ((low ^ high) >> 1))


@jit
def _bracket(
    key, most,
    K: tl.constexpr, GROUPS: tl.constexpr, COLS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # each of at least K groups has a key >= the least of their maxima
    best = tl.max(tl.reshape(key, [BLOCK // COLS, COLS]), 0)
    best = tl.max(tl.reshape(best, [GROUPS, COLS // GROUPS]), 1)
    low, high = tl.maximum(tl.min(best), -2139095041), tl.max(best) + 1  # at least -inf
    at_low, at_high, turn = BLOCK, 0, 0
    # invariant: at_low >= K keys are >= low (BLOCK: not counted), at_high < K are >= high
    if (low < 1) & (high > 1):  # a rectifier leaves many zeros, and 0 and 1 are far from the rest
        count = tl.sum((key >= 1).to(tl.int32))
        if count >= K:
            low, at_low = tl.full([], 1, tl.int32), count
        else:
            high, at_high = tl.full([], 1, tl.int32), count
    # on one side of zero no difference overflows, and its sign is cheaper than a comparison
    key = tl.minimum(tl.maximum(key, low - 1), high)
    while (low + 1 < high) & (at_low > most):
        trial = _trial(low, high, at_low, at_high, turn, K)
        count = BLOCK + tl.sum((key - trial) >> 31)
        turn += 1
        if count >= K:
            low, at_low = trial, count
        else:
            high, at_high = trial, count
    return key, low, high, at_low, K - at_high


@jit
def _marks(key, low, high, TIES: tl.constexpr):
    if TIES:  # two counters in one: keys above the bracket (fewer than 4096), and keys in it
        return tl.where(key >= high, 1, tl.where(key >= low, 4096, 0))
    return (key >= low).to(tl.int32)


@jit
def _put(to, at, key, before, low, high, wanted, TIES: tl.constexpr):
    keep, rank = key >= low, before
    if TIES:
        above, inside = before & 4095, before >> 12
        keep &= (key >= high) | (inside < wanted)
        rank = above + tl.minimum(inside, wanted)
    tl.store(to + rank, at, mask=keep)
    return before + _marks(key, low, high, TIES)


@jit
def _compact(to, key, start, low, high, wanted, TIES: tl.constexpr, BLOCK: tl.constexpr):
    # a thread holds four neighbours: apart, each of the four is one word a lane in order
    even, odd = tl.split(tl.reshape(key, [BLOCK // 4, 2, 2]))
    a, c = tl.split(even)
    b, d = tl.split(odd)
    four = _marks(a, low, high, TIES) + _marks(b, low, high, TIES)
    four += _marks(c, low, high, TIES) + _marks(d, low, high, TIES)
    four = tl.reshape(four, [BLOCK // 128, 32])  # a row is a warp's
    row = tl.sum(four, 1)
    before = tl.cumsum(four, 1) - four + (tl.cumsum(row, 0) - row)[:, None]
    before = tl.reshape(before, [BLOCK // 4])
    at = start + tl.arange(0, BLOCK // 4) * 4
    before = _put(to, at, a, before, low, high, wanted, TIES)
    before = _put(to, at + 1, b, before, low, high, wanted, TIES)
    before = _put(to, at + 2, c, before, low, high, wanted, TIES)
    _put(to, at + 3, d, before, low, high, wanted, TIES)


@jit
def _choose(
    to, key, start, most,
    K: tl.constexpr, GROUPS: tl.constexpr, COLS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # where the K largest of more than `most` keys are (from `start` on, ascending), and how many
    # are given: K to `most`; -2**31 is no key
    key, low, high, at_low, wanted = _bracket(key, most, K, GROUPS, COLS, BLOCK)
    if at_low <= most:
        _compact(to, key, start, low, high, wanted, False, BLOCK)
    else:
        _compact(to, key, start, low, high, wanted, True, BLOCK)
    return tl.where(at_low <= most, at_low, K)


@jit
def _pick(
    row, n, to, start, most,
    K: tl.constexpr, GROUPS: tl.constexpr, COLS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # positions of the K largest of the n > `most` entries at `row`, as `_choose` gives them
    at = tl.arange(0, BLOCK)
    # whole words of four are loaded: a row is padded to its page
    value = tl.load(row + at, mask=at < (n + 3) // 4 * 4, other=0.0)
    key = _ordered(value, at < n)
    return _choose(to, key, start, most, K, GROUPS, COLS, BLOCK)


@jit
def _translate(pages, out, position, live, asked, TOKENS: tl.constexpr):
    page = tl.load(pages + position // TOKENS, mask=live, other=0)
    tl.store(out, tl.where(live, page * TOKENS + position % TOKENS, -1), mask=asked)


@jit
def _segment_kernel(
    logits, lens, page_table, out, picked, keys, l_row, t_row,
    K: tl.constexpr, KEEP: tl.constexpr, TOKENS: tl.constexpr, SEGMENTS: tl.constexpr,
    SEGMENT: tl.constexpr, SHORT: tl.constexpr, RANKS: tl.constexpr, GROUPS: tl.constexpr,
    SHORT_COLS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    b, s = tl.program_id(0).to(tl.int64), tl.program_id(1)
    # positions are int32, as lengths and slots are; only what a row begins with may be more
    length, start = tl.load(lens + b), s * SEGMENT
    n = tl.minimum(length - start, SEGMENT)
    if (n > 0) | (s == 0):
        row = logits + b * l_row + start
        to = picked + b * (SEGMENTS * KEEP + K) + s * KEEP
        most = tl.where(length <= SEGMENT, K, KEEP)
        r, count = tl.arange(0, RANKS), n
        chosen = start + r
        if K < SEGMENT:
            if n > most:
                if n <= SHORT:
                    count = _pick(row, n, to, start, most, K, GROUPS, SHORT_COLS, SHORT)
                elif SHORT < SEGMENT:
                    count = _pick(row, n, to, start, most, K, GROUPS, COLS, SEGMENT)
                tl.debug_barrier()
                chosen = tl.load(to + r, mask=r < count, other=0)
        live = (r < count) & (r < most)
        if length <= SEGMENT:
            _translate(page_table + b * t_row, out + b * K + r, chosen, live, r < K, TOKENS)
        else:
            key = _ordered(tl.load(row + (chosen - start), mask=live, other=0.0), live)
            tl.store(keys + (b * SEGMENTS + s) * KEEP + r, key, mask=r < KEEP)
            tl.store(to + r, chosen, mask=live & (n <= most))


@jit
def _merge_kernel(
    lens, page_table, out, picked, keys, t_row,
    K: tl.constexpr, KEEP: tl.constexpr, TOKENS: tl.constexpr, SEGMENTS: tl.constexpr,
    SEGMENT: tl.constexpr, GROUPS: tl.constexpr, COLS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0).to(tl.int64)
    length = tl.load(lens + b)
    if length > SEGMENT:
        r = tl.arange(0, GROUPS)
        mine = picked + b * (SEGMENTS * KEEP + K)
        chosen = r
        if length > K:
            at = tl.arange(0, BLOCK)
            used = (length + SEGMENT - 1) // SEGMENT * KEEP
            key = tl.load(keys + b * SEGMENTS * KEEP + at, mask=at < used, other=-2147483648)
            to = mine + SEGMENTS * KEEP
            _choose(to, key, 0, K, K, GROUPS, COLS, BLOCK)
            tl.debug_barrier()
            which = tl.load(to + r, mask=r < K, other=0)
            chosen = tl.load(mine + which, mask=r < K, other=0)
        live = (r < K) & (r < length)
        _translate(page_table + b * t_row, out + b * K + r, chosen, live, r < K, TOKENS)


def _columns(block: int, groups: int, warps: int) -> int:
    """How wide a segment is folded before its groups are formed: whole loads of all warps."""
    return min(block, max(groups, 128 * warps))


def select_slots(
    logits: Tensor, lens: Tensor, page_table: Tensor, k: int, plan: TopkPlan | None = None
) -> Tensor:
    """`topk_slots_v2_ref` in one launch, or in two where rows are wider than a segment; nothing
    waits for the device. Raises ValueError if k is above 4096, or a row of logits is not of whole
    words of four.
    """
    require()
    batch, width = logits.shape
    if k > MOST:
        raise ValueError(f"k is {k}; the kernel keeps at most {MOST} of a row")
    if width % 4:
        raise ValueError(f"rows of {width} logits; the kernel reads four at a time")
    logits, lens, page_table = rows_of(logits), lens.contiguous(), rows_of(page_table)
    plan = plan or plan_for(batch, width, k)
    out = torch.empty((batch, k), dtype=torch.int32, device=logits.device)
    if batch == 0:
        return out
    segment = max(LEAST, min(plan.segment, next_power_of_2(width)))
    segments, groups = -(-width // segment), next_power_of_2(k)
    keep = k if segments == 1 else min(segment, k * plan.keep)
    short = min(segment, max(LEAST, plan.short, groups))
    picked = out.new_empty((batch, segments * keep + k))
    keys = out.new_empty((batch, segments, keep))
    shape = (k, keep, width // page_table.shape[1], segments, segment)
    _segment_kernel[(batch, segments)](
        logits, lens, page_table, out, picked, keys, logits.stride(0), page_table.stride(0), *shape,
        short, next_power_of_2(max(k, keep)), groups, _columns(short, groups, plan.warps),
        _columns(segment, groups, plan.warps), num_warps=plan.warps,
    )  # fmt: skip
    if segments > 1:
        block = max(LEAST, groups, next_power_of_2(segments * keep))
        _merge_kernel[(batch,)](
            lens, page_table, out, picked, keys, page_table.stride(0), *shape,
            groups, _columns(block, groups, plan.merge_warps), block, num_warps=plan.merge_warps,
        )  # fmt: skip
    return out

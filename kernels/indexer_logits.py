"""Paged indexer logits: `sum_h weight_h * relu(q_h . k)` of every compressed entry of each row's
pages, fp8 or bfloat16 keys.

Rule: entries at or beyond a row's length are -inf, and the bytes of dead entries never reach a live
one.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from kernels.fp8 import CODE_UNIT, decode_bf16, decode_codes, e4m3_value, has_nan_code, patch_nan
from kernels.jit import INTERPRETED, jit, next_power_of_2, overlaps, require, rows_of, tl
from kernels.layout import LayerView

BLOCK_PAGES = 64  # pages decoded at a time: their half a million elements stay near the cores
PROGRAMS = 256  # about two on each of the 132 multiprocessors of an H200
LONGEST_CHUNK = 32


@dataclass(frozen=True)
class _Run:
    """`pages` that `rows` read alike, in their columns from `col` on."""

    rows: list[int]
    col: int
    pages: list[int]


def indexer_logits_ref(
    src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
) -> Tensor:
    """float32 [B, P * page_tokens] logits of q [B, heads, 128] (float32, bfloat16 or e4m3), weight
    float32 [B, heads].

    page_table int32 [B, P]; lens int32 [B] in entries: -inf at and beyond. A prefix of pages that
    rows share is decoded once for all of them.
    """
    tokens, (batch, heads, dim), q = src.layout.page_tokens, q.shape, q.float()
    dots = q.new_zeros(batch, heads, page_table.shape[1] * tokens)
    each_q, each_dots = q.unbind(0), dots.unbind(0)
    runs = _runs(page_table.tolist(), (-(-lens // tokens)).tolist(), range(batch))
    for block in _blocks(runs):
        pages = torch.tensor([page for run in block for page in run.pages], device=q.device)
        keys, at = page_keys(src, pages).T, 0
        for run in block:
            start, count = run.col * tokens, len(run.pages) * tokens
            mine, columns = keys[:, at : at + count], slice(start, start + count)
            at += count
            if len(run.rows) == 1:
                out = each_dots[run.rows[0]][:, columns]
                torch.mm(each_q[run.rows[0]], mine, out=out)
            else:
                asked = q[run.rows].view(-1, dim)
                dots[run.rows, :, columns] = torch.mm(asked, mine).view(-1, heads, count)
    dots.relu_()
    out = dots[:, 0].mul_(weight) if heads == 1 else torch.bmm(weight[:, None], dots)[:, 0]
    return _finish(src, out, page_table, lens)


def page_keys(src: LayerView, pages: Tensor) -> Tensor:
    """Whole pages (int [n]) decoded: float32 [n * page_tokens, 128]; fp8 keys lack their scale."""
    tokens, rows = src.layout.page_tokens, src.pages.index_select(0, pages)
    codes = rows[:, : src.layout.row_bytes("value") * tokens]
    if len(src.layout.planes) == 1:
        return decode_bf16(codes).view(len(pages) * tokens, -1)
    keys = decode_codes(codes)
    if has_nan_code(codes):
        patch_nan(keys)
    return keys.view(len(pages) * tokens, -1)


def _finish(src: LayerView, out: Tensor, page_table: Tensor, lens: Tensor) -> Tensor:
    """Multiplies by the scales where the format has any, and ends each row at its length.

    Scales are positive, so the rectifier and the weighted sum commute with them.
    """
    ends = torch.arange(out.shape[1], dtype=torch.int32, device=out.device) >= lens[:, None]
    if len(src.layout.planes) > 1:
        tokens = src.layout.page_tokens
        # columns past a row's end may hold any page id
        past = ends[:, ::tokens]
        pages = page_table.masked_fill(past, 0).flatten()
        scale = src.plane("scale").squeeze(2).index_select(0, pages)
        out.mul_(scale.view(out.shape)).mul_(CODE_UNIT)
    return out.masked_fill_(ends, -torch.inf)


def _runs(
    table: list[list[int]], counts: list[int], rows: Iterable[int], col: int = 0
) -> Iterator[_Run]:
    """Covers columns `col` .. counts of every row, each page of a shared prefix once."""
    groups: dict[int, list[int]] = {}
    for row in rows:
        if counts[row] > col:
            groups.setdefault(table[row][col], []).append(row)
    for group in groups.values():
        stop = _common(table, counts, group)
        yield _Run(group, col, table[group[0]][col:stop])
        yield from _runs(table, counts, group, stop)


def _common(table: list[list[int]], counts: list[int], rows: list[int]) -> int:
    """Leading columns in which all `rows`, not yet at their end, name the same pages."""
    first, shared = table[rows[0]], min(counts[row] for row in rows)
    for row in rows[1:]:
        while table[row][:shared] != first[:shared]:
            shared -= 1
    return shared


def _blocks(runs: Iterable[_Run]) -> list[list[_Run]]:
    """Runs packed into blocks of at most BLOCK_PAGES pages; a longer run is cut."""
    blocks: list[list[_Run]] = []
    room = 0
    for run in runs:
        for i in range(0, len(run.pages), BLOCK_PAGES):
            piece = _Run(run.rows, run.col + i, run.pages[i : i + BLOCK_PAGES])
            if len(piece.pages) > room:
                blocks.append([])
                room = BLOCK_PAGES
            blocks[-1].append(piece)
            room -= len(piece.pages)
    return blocks


@dataclass(frozen=True)
class LogitsPlan:
    """How a row is cut up: a program takes `chunk` of its pages (at most 32: the lanes of a warp
    hold their ids), `stages` - 1 of which are on their way while one is multiplied; `overlap` lets
    a program start, and wait, while the kernel before it ends (programmatic dependent launch).
    """

    chunk: int
    stages: int
    overlap: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.chunk <= LONGEST_CHUNK:
            raise ValueError(f"a chunk of {self.chunk} pages; one has 1 to {LONGEST_CHUNK}")


def plan_for(rows: int, width: int) -> LogitsPlan:
    """The plan for `rows` rows of `width` pages: the longest chunks of which PROGRAMS are left.

    On an H200 this was within 5 % of the best of 9 plans at each of 7 sizes, fp8 and bfloat16.
    """
    chunk = LONGEST_CHUNK
    while chunk > 1 and rows * -(-width // chunk) < PROGRAMS:
        chunk //= 2
    return LogitsPlan(chunk, stages=4)


@jit
def _operand(x, MATRIX: tl.constexpr):
    if x.dtype == tl.float8e4nv and MATRIX == tl.float32:  # the interpreter's cast loses NaN
        return e4m3_value(x.to(tl.uint8, bitcast=True))
    return x.to(MATRIX)


@jit
def _finite(x):
    # a float32 has as many pieces as it takes; of an infinite one, or a NaN, the highest is enough
    return tl.where(tl.abs(x) < float("inf"), x, 0.0).to(x.dtype)


@jit
def _indexer_logits_kernel(
    q, weight, keys, scale, page_table, lens, out, k_page, s_page, t_row, o_row, width,
    chunk, HEADS: tl.constexpr, PAD: tl.constexpr, TOKENS: tl.constexpr, FP8: tl.constexpr,
    SPLIT: tl.constexpr, MATRIX: tl.constexpr, STAGES: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    if OVERLAP:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()
    b, first = tl.program_id(0).to(tl.int64), tl.program_id(1) * chunk
    last = tl.minimum(chunk, width - first)
    tok, c, h, j = tl.arange(0, TOKENS), tl.arange(0, 128), tl.arange(0, PAD), tl.arange(0, 32)
    # ids are kept by the lanes of a warp: the load of a page then waits for no other load
    ids = tl.load(page_table + b * t_row + first + j, mask=j < last, other=0)
    length = tl.load(lens + b) - first * TOKENS
    at = (b * HEADS + h[:, None]) * 128 + c[None, :]
    query = tl.load(q + at, mask=h[:, None] < HEADS, other=0.0)  # [PAD, 128]
    if SPLIT:  # a float32 is the sum of three bfloat16
        high = query.to(tl.bfloat16)
        rest = _finite(query - high.to(tl.float32))  # nothing is left of an infinite one
        middle = rest.to(tl.bfloat16)
        low = (rest - middle.to(tl.float32)).to(tl.bfloat16).to(MATRIX)
        high, middle = high.to(MATRIX), middle.to(MATRIX)
    else:
        high = _operand(query, MATRIX)
    w = tl.load(weight + b * HEADS + h, mask=h < HEADS, other=0.0)
    stop = tl.minimum(last, tl.cdiv(length, TOKENS))
    row = out + b * o_row + first * TOKENS + tok
    # a page beyond the row's length may be any number: nothing is loaded from it
    for i in tl.range(0, stop, num_stages=STAGES):
        page = tl.sum(tl.where(j == i, ids, 0)).to(tl.int64)
        k = tl.load(keys + page * k_page + tok[:, None] * 128 + c[None, :])
        k = _operand(k, MATRIX)
        if SPLIT:
            near = k if FP8 else _finite(k)  # e4m3 has no infinity
            dots = tl.dot(near, tl.trans(low))
            dots = tl.dot(near, tl.trans(middle), dots)
            dots = tl.dot(k, tl.trans(high), dots)
        else:
            dots = tl.dot(k, tl.trans(high))  # [TOKENS, PAD]
        dots = tl.maximum(dots, 0.0, propagate_nan=tl.PropagateNan.ALL)
        if PAD > HEADS:  # zeros times an infinite key
            dots = tl.where(h[None, :] < HEADS, dots, 0.0)
        total = tl.sum(dots * w[None, :], axis=1)
        if FP8:
            total *= tl.load(scale + page * s_page + tok)
        total = tl.where(i * TOKENS + tok < length, total, float("-inf"))
        tl.store(row + i * TOKENS, total)
    for i in range(tl.maximum(stop, 0), last):
        tl.store(row + i * TOKENS, tl.full([TOKENS], float("-inf"), tl.float32))


def indexer_logits_triton(
    src: LayerView,
    q: Tensor,
    weight: Tensor,
    page_table: Tensor,
    lens: Tensor,
    out: Tensor | None = None,
    plan: LogitsPlan | None = None,
) -> Tensor:
    """`indexer_logits_ref` on the matrix units: in e4m3 where keys and q both are, else in bfloat16
    (a float32 q in three pieces, which lose nothing).

    Fills and returns `out`, float32 [B, P * page_tokens] of any row stride, where one is given.
    Raises ValueError if it has another shape or gaps in its rows.
    """
    require()
    (batch, heads, _), width, tokens = q.shape, page_table.shape[1], src.layout.page_tokens
    keys, fp8 = src.plane("value"), len(src.layout.planes) > 1
    scale = src.plane("scale") if fp8 else keys
    if out is None:
        out = torch.empty(batch, width * tokens, dtype=torch.float32, device=q.device)
    if [*out.shape, out.dtype] != [batch, width * tokens, torch.float32] or out.stride(1) != 1:
        wanted = f"float32 {[batch, width * tokens]} without gaps in its rows"
        raise ValueError(f"out is {out.dtype} {[*out.shape]}, {out.stride()}; wanted is {wanted}")
    if out.numel() > 0:
        table = rows_of(page_table)
        plan = plan or plan_for(batch, width)
        overlap = plan.overlap and overlaps()
        _indexer_logits_kernel[(batch, -(-width // plan.chunk))](
            q.contiguous(), weight.contiguous(), keys, scale, table, lens.contiguous(), out,
            keys.stride(0), scale.stride(0), table.stride(0), out.stride(0), width,
            plan.chunk, heads, max(16, next_power_of_2(heads)), tokens, fp8,
            q.dtype == torch.float32, _matrix_dtype(keys.dtype, q.dtype), plan.stages, overlap,
            num_warps=4, **({"launch_pdl": True} if overlap else {}),
        )  # fmt: skip
    return out


def _matrix_dtype(keys: torch.dtype, q: torch.dtype) -> Any:
    """What both sides of a product are turned into."""
    if INTERPRETED:
        return tl.float32
    return tl.float8e4nv if keys == q == torch.float8_e4m3fn else tl.bfloat16

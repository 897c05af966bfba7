"""Paged indexer logits: `sum_h weight_h * relu(q_h . k)` of every compressed entry of each row's
pages, fp8 or bfloat16 keys.

Rule: entries at or beyond a row's length are -inf, and the bytes of dead entries never reach a live
one.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.fp8 import (
    CODE_UNIT,
    bf16_value,
    decode_bf16,
    decode_codes,
    e4m3_value,
    has_nan_code,
    patch_nan,
)
from kernels.jit import jit, next_power_of_2, require, tl
from kernels.layout import LayerView
from kernels.store_index_k import index_planes

BLOCK_PAGES = 64  # pages decoded at a time: their half a million elements stay near the cores


@dataclass(frozen=True)
class _Run:
    """`pages` that `rows` read alike, in their columns from `col` on."""

    rows: list[int]
    col: int
    pages: list[int]


def indexer_logits_ref(
    src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
) -> Tensor:
    """float32 [B, P * page_tokens] logits of q float32 [B, heads, 128], weight [B, heads].

    page_table int32 [B, P]; lens int32 [B] in entries: -inf at and beyond. A prefix of pages that
    rows share is decoded once for all of them.
    """
    tokens, (batch, heads, dim) = src.layout.page_tokens, q.shape
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


@jit
def _indexer_logits_kernel(
    q, weight, value, scale, page_table, lens, out, v_page, v_tok, s_page, t_row, o_row,
    HEADS: tl.constexpr, TOKENS: tl.constexpr, BLOCK: tl.constexpr, FP8: tl.constexpr,
):  # fmt: skip
    b, col = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    tok, c = tl.arange(0, BLOCK), tl.arange(0, 128)
    entry = col * TOKENS + tok
    live = (tok < TOKENS) & (entry < tl.load(lens + b))
    # a page beyond the row's length may be any number: no live entry, no load from it
    page = tl.load(page_table + b * t_row + col).to(tl.int64)
    at = value + page * v_page + tok[:, None] * v_tok + c[None, :]
    raw = tl.load(at, mask=live[:, None], other=0)
    if FP8:
        keys = e4m3_value(raw)
    else:
        keys = bf16_value(raw)
    total = tl.zeros([BLOCK], tl.float32)
    for h in range(HEADS):
        query = tl.load(q + (b * HEADS + h) * 128 + c)
        dots = tl.sum(keys * query[None, :], axis=1)
        # unlike tl.maximum, keeps a NaN
        total += tl.load(weight + b * HEADS + h) * tl.where(dots < 0.0, 0.0, dots)
    if FP8:
        total *= tl.load(scale + page * s_page + tok, mask=live, other=0.0)
    total = tl.where(live, total, float("-inf"))
    tl.store(out + b * o_row + entry, total, mask=tok < TOKENS)


def indexer_logits_triton(
    src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
) -> Tensor:
    """`indexer_logits_ref` as one program a row and page."""
    require()
    batch, heads, _ = q.shape
    value, scale = index_planes(src)
    tokens, width = value.shape[1], page_table.shape[1]
    out = q.new_empty(batch, width * tokens)
    if out.numel() > 0:
        _indexer_logits_kernel[(batch, width)](
            q.contiguous(), weight.contiguous(), value, scale, page_table, lens, out,
            value.stride(0), value.stride(1), scale.stride(0), page_table.stride(0), out.stride(0),
            heads, tokens, next_power_of_2(tokens), value.dtype == torch.uint8,
        )  # fmt: skip
    return out

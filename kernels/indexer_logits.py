"""Paged indexer logits: `sum_h weight_h * relu(q_h . k)` of every compressed entry of each row's
pages, fp8 or bfloat16 keys.

Rule: entries at or beyond a row's length are -inf, and the bytes of dead entries never reach a live
one.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

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

BLOCK_PAGES = 64  # pages decoded at a time: half a million keys' elements stay near the cores


@dataclass(frozen=True)
class _Run:
    """Pages that some rows read alike, in the same columns: `pages` int [n] from `col` on."""

    rows: slice | Tensor
    col: int
    pages: Tensor


def indexer_logits_ref(
    src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
) -> Tensor:
    """float32 [B, P * page_tokens] logits of q float32 [B, heads, 128], weight [B, heads].

    page_table int32 [B, P]; lens int32 [B] in entries: -inf at and beyond. Pages that rows share
    from column 0 on are decoded once for all of them.
    """
    tokens, width = src.layout.page_tokens, page_table.shape[1]
    out = q.new_full((len(q), width * tokens), -torch.inf)
    for block in _blocks(_runs(page_table, -(-lens // tokens))):
        keys = page_keys(src, torch.cat([run.pages for run in block]))
        at = 0
        for run in block:
            part = slice(at, at := at + len(run.pages) * tokens)
            columns = slice(run.col * tokens, run.col * tokens + part.stop - part.start)
            out[run.rows, columns] = _logits(q[run.rows], weight[run.rows], keys, part)
    ends = torch.arange(width * tokens, dtype=torch.int32, device=q.device)
    return out.masked_fill_(ends >= lens[:, None], -torch.inf)


def page_keys(src: LayerView, pages: Tensor) -> tuple[Tensor, Tensor | None]:
    """Whole pages (int [n]) decoded: float32 keys [n * tokens, 128] and scales [n * tokens] that
    their dots are multiplied by, None if the format has none.
    """
    tokens, rows = src.layout.page_tokens, src.pages.index_select(0, pages)
    width = src.layout.row_bytes("value") * tokens
    if len(src.layout.planes) == 1:
        return decode_bf16(rows[:, :width]).view(len(pages) * tokens, -1), None
    codes = rows[:, :width]
    keys = decode_codes(codes)
    if has_nan_code(codes):
        patch_nan(keys)
    scale = rows[:, width : width + src.layout.row_bytes("scale") * tokens].view(torch.float32)
    return keys.view(len(pages) * tokens, -1), scale.flatten() * CODE_UNIT


def _logits(q: Tensor, weight: Tensor, keys: tuple[Tensor, Tensor | None], part: slice) -> Tensor:
    """[rows, entries] logits of q [rows, heads, 128] over the entries `part` of decoded keys."""
    rows, heads, dim = q.shape
    dots = torch.mm(q.view(rows * heads, dim), keys[0][part].T).relu_()
    if heads == 1:
        logits = dots.mul_(weight)
    else:
        logits = torch.bmm(weight[:, None], dots.view(rows, heads, -1)).squeeze(1)
    # scales are positive: relu and the weighted sum commute with them
    return logits if keys[1] is None else logits.mul_(keys[1][part])


def _runs(page_table: Tensor, used: Tensor) -> list[_Run]:
    """Covers the first `used` (int [B]) columns of every row by runs, each page of a run once."""
    table, counts = page_table.tolist(), used.tolist()
    groups: dict[int, list[int]] = {}
    for row, pages in enumerate(table):
        if counts[row] > 0:
            groups.setdefault(pages[0], []).append(row)
    runs = []
    for rows in groups.values():
        shared = _common(table, counts, rows) if len(rows) > 1 else 0
        if shared > 0:
            runs.append(_Run(torch.tensor(rows), 0, page_table[rows[0], :shared]))
        for row in rows:
            if counts[row] > shared:
                own = page_table[row, shared : counts[row]]
                runs.append(_Run(slice(row, row + 1), shared, own))
    return runs


def _common(table: list[list[int]], counts: list[int], rows: list[int]) -> int:
    """Leading columns in which all `rows` name the same pages."""
    shared = min(counts[row] for row in rows)
    first = table[rows[0]]
    for row in rows[1:]:
        while table[row][:shared] != first[:shared]:
            shared -= 1
    return shared


def _blocks(runs: list[_Run]) -> list[list[_Run]]:
    """Runs packed into blocks of about BLOCK_PAGES pages; a longer run is cut."""
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

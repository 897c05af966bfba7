"""Paged indexer logits: `sum_h weight_h * relu(q_h . k)` of every compressed entry of each row's
pages, fp8 or bfloat16 keys.

Rule: entries at or beyond a row's length are -inf, and the bytes of dead entries never reach a live
one.
"""

import torch
from torch import Tensor

from kernels.fp8 import CODE_UNIT, decode_bf16, decode_codes, has_nan_code, patch_nan
from kernels.layout import LayerView

BLOCK_PAGES = 64  # pages decoded at a time: 64 x 8,192 codes stay in a core's cache


def page_keys(src: LayerView, pages: Tensor) -> tuple[Tensor, Tensor | None]:
    """Decodes whole pages (int [n]): float32 keys [n, page_tokens, 128] and their scales [n,
    page_tokens], None if there are none.
    """
    tokens, rows = src.layout.page_tokens, src.pages.index_select(0, pages)
    width = src.layout.row_bytes("value") * tokens
    if len(src.layout.planes) == 1:
        return decode_bf16(rows[:, :width]).view(len(pages), tokens, -1), None
    codes = rows[:, :width]
    keys = decode_codes(codes)
    if has_nan_code(codes):
        patch_nan(keys)
    scale = rows[:, width : width + tokens * src.layout.row_bytes("scale")].view(torch.float32)
    return keys.view(len(pages), tokens, -1), scale * CODE_UNIT


def indexer_logits_ref(
    src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
) -> Tensor:
    """float32 [B, P * page_tokens] logits; q float32 [B, heads, 128], weight [B, heads], page_table
    int32 [B, P], lens int32 [B] in entries.
    """
    batch, width = page_table.shape
    tokens = src.layout.page_tokens
    out = torch.full((batch, width, tokens), -torch.inf)
    used = torch.arange(width) < ((lens + tokens - 1) // tokens)[:, None]
    row, col = used.nonzero(as_tuple=True)
    page = page_table[row, col]
    for i in range(0, len(page), BLOCK_PAGES):
        r, c = row[i : i + BLOCK_PAGES], col[i : i + BLOCK_PAGES]
        keys, scale = page_keys(src, page[i : i + BLOCK_PAGES])
        dots = torch.bmm(keys, q.index_select(0, r).transpose(1, 2)).relu_()
        logits = torch.bmm(dots, weight.index_select(0, r)[:, :, None]).squeeze(2)
        # the scale is positive, so relu and the weighted sum commute with it
        out[r, c] = logits if scale is None else logits * scale
    out = out.flatten(1)
    return out.masked_fill_(torch.arange(width * tokens) >= lens[:, None], -torch.inf)

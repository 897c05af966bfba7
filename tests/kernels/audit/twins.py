"""Operations with one fault each, for checks that must catch them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from kernels.defects.int32_logits_offset import row_offset
from kernels.ops import LayerView, Ops, Segment

HEALTHY = Ops.reference()
Twin = Callable[..., Any]


def rows_shifted(dst: LayerView, rows: Tensor, slots: Tensor, live: Tensor) -> Any:
    """Every row lands at its neighbour's slot."""
    return _store(dst)(dst, rows.roll(1, 0), slots, live)


def nan_lost(dst: LayerView, rows: Tensor, slots: Tensor, live: Tensor) -> Any:
    """A NaN is stored as a number."""
    return _store(dst)(dst, rows.nan_to_num(1.0), slots, live)


def unguarded(dst: LayerView, rows: Tensor, slots: Tensor, live: Tensor) -> Any:
    """Dead rows are written too, to where -1 and 0 lead."""
    tokens = len(dst.pages) * dst.layout.page_tokens
    return _store(dst)(dst, rows, torch.where(slots > 0, slots, tokens - 1), live | True)


def stored_in_31_bits(dst: LayerView, rows: Tensor, slots: Tensor, live: Tensor) -> Any:
    """The byte of a page is found in 31 bits."""
    tokens = dst.layout.page_tokens
    page = _wrapped(dst, slots // tokens).clamp(min=1)
    return _store(dst)(dst, rows, page * tokens + slots % tokens, live)


def without_weight(src: LayerView, q: Tensor, weight: Tensor, *rest: Tensor) -> Tensor:
    """Heads count alike."""
    return HEALTHY.indexer_logits(src, q, torch.ones_like(weight), *rest)


def nan_hidden(*given: Tensor) -> Tensor:
    """A NaN becomes a logit of zero."""
    return HEALTHY.indexer_logits(*given).nan_to_num(0.0, neginf=-torch.inf)


def a_lane_lost(src: LayerView, q: Tensor, *rest: Tensor) -> Tensor:
    """The last of 128 lanes is not multiplied."""
    lanes = torch.arange(128) < 127
    return HEALTHY.indexer_logits(src, (q.float() * lanes).to(q.dtype), *rest)


def last_page_unwritten(*given: Tensor) -> Tensor:
    """The end of each row is what memory happened to hold."""
    out = HEALTHY.indexer_logits(*given)
    out[:, -64:] = torch.nan
    return out


def rows_in_32_bits(*given: Tensor, out: Tensor) -> None:
    """Rows begin where their product with the width, in 32 bits, says."""
    logits = HEALTHY.indexer_logits(*given)
    flat = out.as_strided((out.storage_offset() + len(out) * out.stride(0),), (1,), 0)
    for row, values in enumerate(logits):
        at = out.storage_offset() + row_offset(row, out.stride(0))
        flat[at : at + len(values)] = values


def pages_in_31_bits(
    src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
) -> Tensor:
    """The byte of a page is found in 31 bits."""
    return HEALTHY.indexer_logits(src, q, weight, _wrapped(src, page_table), lens)


def one_too_few(logits: Tensor, lens: Tensor, pages: Tensor, k: int) -> Tensor:
    """The k-th is left out."""
    fewer = HEALTHY.topk_slots_v2(logits, lens, pages, k - 1)
    return torch.nn.functional.pad(fewer, (0, 1), value=-1)


def last_of_equals(logits: Tensor, lens: Tensor, pages: Tensor, k: int) -> Tensor:
    """Of equal logits those at the highest positions."""
    back = logits.flip(1).sort(dim=1, descending=True, stable=True).indices[:, :k]
    at = logits.shape[1] - 1 - back
    slots = (pages.gather(1, at // 64) * 64 + at % 64).int()
    return torch.where(lens[:, None] > k, slots, HEALTHY.topk_slots_v2(logits, lens, pages, k))


def nan_last(logits: Tensor, lens: Tensor, pages: Tensor, k: int) -> Tensor:
    """A NaN is below every number."""
    return HEALTHY.topk_slots_v2(logits.nan_to_num(-torch.inf, torch.inf), lens, pages, k)


def attending(change: Callable[..., tuple[Any, ...]]) -> Twin:
    """Sparse attention whose (q, segments, bias, sink) are changed first."""
    return lambda *given, **how: HEALTHY.sparse_attention(*change(*given), **how)


def a_slot_lost(q: Tensor, parts: tuple[Segment, ...], bias: Tensor, sink: Tensor) -> Any:
    return q, tuple(Segment(p.view, p.slots[:, :-1]) for p in parts), bias, sink


def bias_ignored(q: Tensor, parts: tuple[Segment, ...], bias: Tensor, sink: Tensor) -> Any:
    return q, parts, torch.zeros_like(bias), sink


def sink_ignored(q: Tensor, parts: tuple[Segment, ...], bias: Tensor, sink: Tensor) -> Any:
    return q, parts, bias, torch.full_like(sink, -torch.inf)


def dead_seen(q: Tensor, parts: tuple[Segment, ...], bias: Tensor, sink: Tensor) -> Any:
    seen = (Segment(p.view, p.slots.clamp(min=p.view.layout.page_tokens)) for p in parts)
    return q, tuple(seen), bias, sink


def scores_in_bf16(q: Tensor, parts: tuple[Segment, ...], bias: Tensor, sink: Tensor) -> Any:
    return q.bfloat16().float(), parts, bias, sink


def slots_in_31_bits(q: Tensor, parts: tuple[Segment, ...], bias: Tensor, sink: Tensor) -> Any:
    tokens = [p.view.layout.page_tokens for p in parts]
    wrapped = tuple(
        Segment(p.view, _wrapped(p.view, p.slots // n) * n + p.slots % n)
        for p, n in zip(parts, tokens, strict=True)
    )
    return q, wrapped, bias, sink


def zeros_for_nan(attend: Twin) -> Twin:
    """An attention that hides what is NaN."""

    def call(*given: Any, **how: Any) -> Any:
        return tuple(each.nan_to_num(0.0) for each in attend(*given, **how))

    return call


def averaged_above(attend: Twin, rows: int) -> Twin:
    """An attention that, of more than `rows` rows, takes the mean of the last two."""

    def call(*given: Any, **how: Any) -> Any:
        out, lse = attend(*given, **how)
        if len(out) > rows:
            out[-1] = (out[-1] + out[-2]) / 2
        return out, lse

    return call


def window_too_short(
    q: Tensor, src: LayerView, slots: Tensor, window: int, sink: Tensor, **how: Any
) -> Any:
    """The oldest position of a window is not seen."""
    return HEALTHY.window_attention(q, src, slots, max(1, window - 1), sink, **how)


def page_truncated(dst: Tensor, src: Tensor, to: Tensor, frm: Tensor) -> None:
    """The last byte of a row stays."""
    HEALTHY.page_copy(dst[:, :, :-1], src[:, :, :-1], to, frm)


def pages_copied_in_31_bits(dst: Tensor, src: Tensor, to: Tensor, frm: Tensor) -> None:
    """The byte of a page is found in 31 bits, on both sides."""
    ids = (p * dst.shape[2] % (1 << 31) // dst.shape[2] for p in (to, frm))
    HEALTHY.page_copy(dst, src, *ids)


def one_plane_only(dst: LayerView, src: LayerView, *rest: Any) -> None:
    """Only the first plane of a token travels."""
    last = dst.rows(dst.layout.planes[-1].name)
    kept = last.clone()
    HEALTHY.token_copy(dst, src, *rest)
    last.copy_(kept if len(dst.layout.planes) > 1 else last)


def live_ignored(
    dst: LayerView, src: LayerView, to: Tensor, frm: Tensor, live: Tensor | None = None
) -> None:
    """Dead tokens are copied too, to where their slots lead."""
    ends = [len(view.pages) * view.layout.page_tokens for view in (dst, src)]
    HEALTHY.token_copy(dst, src, to % ends[0], frm % ends[1])


def tokens_in_31_bits(dst: LayerView, src: LayerView, to: Tensor, frm: Tensor) -> None:
    """The byte of a token's page is found in 31 bits, on both sides."""
    n = dst.layout.page_tokens
    slots = (
        _wrapped(view, s // n) * n + s % n for view, s in zip((dst, src), (to, frm), strict=True)
    )
    HEALTHY.token_copy(dst, src, *slots)


def next_page(src: LayerView, pages: Tensor) -> Tensor:
    """The digest of the page after."""
    return HEALTHY.page_digest(src, (pages + 1) % len(src.pages))


def last_word_skipped(src: LayerView, pages: Tensor) -> Tensor:
    """A digest of all but the last eight bytes."""
    copied = src.pages.clone()
    copied[:, -8:] = 0
    return HEALTHY.page_digest(LayerView(src.layout, copied), pages)


def digest_in_31_bits(src: LayerView, pages: Tensor) -> Tensor:
    """The byte of a page is found in 31 bits."""
    return HEALTHY.page_digest(src, _wrapped(src, pages))


def with_twin(**twins: Twin) -> Ops:
    """The reference operations, these ones replaced."""
    return replace(HEALTHY, **twins)


def _store(dst: LayerView) -> Twin:
    latent = dst.layout.planes[0].per_token == 576
    return HEALTHY.store_latent if latent else HEALTHY.store_index_k


def _wrapped(view: LayerView, pages: Tensor) -> Tensor:
    size = view.layout.page_bytes
    return (pages.long() * size % (1 << 31) // size).to(pages.dtype)

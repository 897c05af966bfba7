"""Sparse attention of whole batches in decode: 64 heads over the 512 latents that an indexer chose
out of 16,384, alone and with the window and the c128 blocks beside them; and the window alone in a
prefill of 2,048 tokens.

Rule: a row's latents lie in pages of its own, in no order; every slot is live. Scores are near each
other but in the case of a late peak, where the kernel has to walk a row once more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from kernels.cases import latent_layout
from kernels.layout import LayerView
from kernels.matrix_attention import BLOCK, AttentionPlan, plan_for
from kernels.production.case import Case, Goal, Peer
from kernels.sparse_attention import Segment, sparse_attention_triton
from kernels.store_latent import GROUP, LATENT, NOPE
from kernels.window_attention import window_attention_triton

HEADS = 64
TOP = (64, 512, 16_384)  # tokens a page, latents a row, latents it chooses from
WINDOW = (256, 128, 256)
BLOCKS = (2, 128, 512)
FLASHMLA_MS = {64: 0.043, 128: 0.042, 512: 0.149}
PREFILL = (2_048, 128)  # tokens, and those that each looks back on
GOALS = {64: 1.0, 128: 1.0, 512: 1.3}
PEAK = 64.0  # the score of a late latent; what weights are kept relative to holds 30 above it
Parts = tuple[tuple[int, int, int], ...]  # (tokens a page, latents a row, of how many) each


@dataclass(frozen=True, eq=False)
class Inputs:
    """Arguments of the operation: q bfloat16 [B, heads, 512], bias float32 [heads, segments]."""

    q: Tensor
    segments: tuple[Segment, ...]
    bias: Tensor
    sink: Tensor


@dataclass(frozen=True, eq=False)
class Prefill:
    """Arguments of window attention: q bfloat16 [T, heads, 512], `context` int64 [T + window - 1]
    slots, none of them dead.
    """

    q: Tensor
    view: LayerView
    context: Tensor
    window: int
    sink: Tensor


def cases(device: str, small: bool = False) -> Iterator[Case]:
    """The selected latents at every number of rows; all three segments, and a late peak, at one."""
    heads, rows = (16, (2, 3)) if small else (HEADS, tuple(FLASHMLA_MS))
    top, window, blocks = (
        (t, n // 8, max(t, n // 2)) if small else (t, n, c) for t, n, c in (TOP, WINDOW, BLOCKS)
    )
    for n in rows:
        yield _case(device, n, heads, (top,), f"{n} rows, top {top[1]}")
    size = f"{rows[0]} rows, window {window[1]} + top {top[1]} + {blocks[1]} of c128"
    yield _case(device, rows[0], heads, (window, top, blocks), size)
    top = (top[0], max(top[1], 2 * BLOCK), top[2])  # a late one is behind the first block
    size = f"{rows[0]} rows, top {top[1]}, a late peak"
    yield _case(device, rows[0], heads, (top,), size, late=True)
    yield _window(device, heads, *((33, 16) if small else PREFILL))


def _case(device: str, rows: int, heads: int, parts: Parts, size: str, late: bool = False) -> Case:
    latents, widest = sum(n for _, n, _ in parts), max(n for _, n, _ in parts)
    moved = rows * (latents * (584 + 4) + heads * (LATENT * 4 + 4))
    peer = FLASHMLA_MS.get(rows) if len(parts) == 1 and not late else None
    return Case(
        kernel="sparse attention",
        size=size,
        make=partial(_inputs, device, rows, heads, parts, late),
        ours=_ours,
        plain=_plain,
        moved_bytes=moved,
        flops=2 * rows * heads * latents * 2 * LATENT,
        peer=Peer("FlashMLA", peer) if peer else None,
        goal=Goal(GOALS[rows], "peer") if peer else None,
        candidates={_name(p): partial(_ours, plan=p) for p in _plans(rows, heads, widest)},
        alone=partial(_ours, plan=replace(plan_for(rows, heads, widest), overlap=False)),
        resident_bytes=moved,
    )


def _window(device: str, heads: int, tokens: int, window: int) -> Case:
    moved = (tokens + window - 1) * (584 + 8) + tokens * heads * (LATENT * 4 + 4)
    apart = replace(plan_for(tokens, heads, window), overlap=False)
    return Case(
        kernel="window attention",
        size=f"{tokens:,} tokens of a prefill, window {window}",
        make=partial(_prefill, device, heads, tokens, window),
        ours=lambda x: window_attention_triton(x.q, x.view, x.context, x.window, x.sink),
        plain=lambda x: _plain(_unrolled(x)),
        moved_bytes=moved,
        flops=2 * tokens * heads * window * 2 * LATENT,
        alone=lambda x: _ours(_unrolled(x), apart),
        resident_bytes=moved,
    )


def _plans(rows: int, heads: int, latents: int) -> Iterator[AttentionPlan]:
    """The choice for the shape, half and twice its chunk, and other ways to put it together."""
    chosen, all_ = plan_for(rows, heads, latents).chunk, -(-latents // BLOCK) * BLOCK
    half = max(BLOCK, chosen // 2 // BLOCK * BLOCK)
    yield from map(AttentionPlan, sorted({half, chosen, min(2 * chosen, all_)}))
    yield AttentionPlan(chosen, overlap=False)


def _name(plan: AttentionPlan) -> str:
    return f"chunks of {plan.chunk}{'' if plan.overlap else ', launched apart'}"


def _inputs(device: str, rows: int, heads: int, parts: Parts, late: bool, seed: int) -> Inputs:
    g = torch.Generator(device).manual_seed(seed)
    q = torch.randn(rows, heads, LATENT, device=device, generator=g).div_(LATENT**0.5).bfloat16()
    segments = tuple(_segment(device, rows, *part, g) for part in parts)
    sink = torch.randn(heads, device=device, generator=g)
    if late:
        _raise_last(q[:, 0, NOPE:].float(), segments[0])
    return Inputs(q, segments, torch.zeros(heads, len(parts), device=device), sink)


def _segment(
    device: str, rows: int, tokens: int, latents: int, context: int, g: torch.Generator
) -> Segment:
    """`latents` of each row's `context`, without repetition; its pages are its own."""
    layout, width = latent_layout(tokens, layers=1), context // tokens
    view = layout.layer(layout.allocate(1 + rows * width, device), 0)
    value, scale = view.plane("value"), view.plane("scale")
    value.random_(generator=g)
    value.masked_fill_((value & 0x7F) == 0x7F, 0)
    rope = torch.randn(*value.shape[:2], 64, device=device, generator=g)
    value[..., NOPE:] = rope.bfloat16().view(torch.uint8)
    scale.random_(117, 121, generator=g)
    pages = 1 + torch.randperm(rows * width, device=device, generator=g).view(rows, width)
    chosen = torch.rand(rows, context, device=device, generator=g).topk(latents).indices
    slots = pages.gather(1, chosen // tokens) * tokens + chosen % tokens
    return Segment(view, slots.int())


def _prefill(device: str, heads: int, tokens: int, window: int, seed: int) -> Prefill:
    pages, page = -(-(tokens + window - 1) // WINDOW[0]), WINDOW[0]
    x = _inputs(device, 1, heads, ((page, window, pages * page),), False, seed)
    g = torch.Generator(device).manual_seed(seed)
    order = 1 + torch.randperm(pages, device=device, generator=g)
    slots = (order[:, None] * page + torch.arange(page, device=device)).flatten()
    q = torch.randn(tokens, heads, LATENT, device=device, generator=g).div_(LATENT**0.5)
    context = slots[: tokens + window - 1]
    return Prefill(q.bfloat16(), x.segments[0].view, context, window, x.sink)


def _unrolled(x: Prefill) -> Inputs:
    """Each token's window as a row's segment."""
    segment = Segment(x.view, x.context.unfold(0, x.window, 1).int())
    return Inputs(x.q, (segment,), torch.zeros_like(x.sink)[:, None], x.sink)


def _raise_last(rope: Tensor, segment: Segment) -> None:
    """Each row's last latent scores PEAK with the rope dims `rope` [B, 64] of a head."""
    slots, tokens = segment.slots[:, -1].long(), segment.view.layout.page_tokens
    key = rope * (PEAK / rope.square().sum(1, keepdim=True))
    bits = key.bfloat16().view(torch.uint8)
    segment.view.plane("value")[slots // tokens, slots % tokens, NOPE:] = bits


def _ours(x: Inputs, plan: AttentionPlan | None = None) -> tuple[Tensor, Tensor]:
    return sparse_attention_triton(x.q, x.segments, x.bias, x.sink, plan=plan)


def _plain(x: Inputs) -> tuple[Tensor, Tensor]:
    """Gathers, decodes to bfloat16, and multiplies; the sink is one more score without a value."""
    rows = torch.cat([_decoded(s.view, s.slots.long()) for s in x.segments], 1)
    extra = torch.cat([x.bias[:, i : i + 1].expand(-1, s.slots.shape[1])
                       for i, s in enumerate(x.segments)], 1)  # fmt: skip
    score = torch.bmm(x.q, rows.transpose(1, 2)).float() + extra
    sink = x.sink[:, None].expand(len(score), -1, 1)
    weight = torch.cat([score, sink], 2).softmax(2)[..., :-1]
    return torch.bmm(weight.bfloat16(), rows), score.logsumexp(2)


def _decoded(view: LayerView, slots: Tensor) -> Tensor:
    """bfloat16 [B, N, 512] of live slots [B, N]."""
    page, token = slots // view.layout.page_tokens, slots % view.layout.page_tokens
    value, scale = view.plane("value")[page, token], view.plane("scale")[page, token]
    unit = torch.exp2(scale[..., : NOPE // GROUP].float() - 127).bfloat16()
    code = value[..., :NOPE].view(torch.float8_e4m3fn).to(torch.bfloat16)
    nope = code.unflatten(2, (-1, GROUP)) * unit[..., None]
    rope = value[..., NOPE:].contiguous().view(torch.bfloat16)
    return torch.cat([nope.flatten(2), rope], 2)

"""Indexer logits of whole batches in decode: 64 index heads over every compressed entry of contexts
of 8k to 512k tokens, four tokens an entry.

Rule: pages lie in no order and none is read twice; every row is at its full length.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from kernels.cases import INDEX_K, index_layout
from kernels.indexer_logits import LONGEST_CHUNK, LogitsPlan, indexer_logits_triton, plan_for
from kernels.layout import LayerView
from kernels.production.case import Case, Goal, Peer

HEADS = 64
SIZES = (  # requests, entries
    (64, 2_048),
    (64, 4_096),
    (64, 16_384),
    (64, 65_536),
    (128, 16_384),
    (128, 131_072),
    (4, 131_072),
)
SMALL = ((2, 128), (1, 192))
DEEPGEMM_MS = {(64, 4_096): 0.012, (64, 16_384): 0.044, (64, 65_536): 0.154}
STAGES = {"fp8": (3, 4), "bf16": (2, 3, 4)}


@dataclass(frozen=True, eq=False)
class Inputs:
    """Arguments of the operation: q e4m3 or bfloat16 [B, 64, 128], weight float32 [B, 64] with q's
    scale in it.
    """

    src: LayerView
    q: Tensor
    weight: Tensor
    table: Tensor
    lens: Tensor


def cases(device: str, small: bool = False) -> Iterator[Case]:
    """Both formats of index-K at every size."""
    for dtype in INDEX_K:
        for rows, entries in SMALL if small else SIZES:
            yield _case(device, dtype, rows, entries)


def _case(device: str, dtype: str, rows: int, entries: int) -> Case:
    layout = index_layout(dtype)
    width, fp8 = entries // layout.page_tokens, dtype == "fp8"
    peer = DEEPGEMM_MS.get((rows, entries)) if fp8 else None
    per_page = layout.page_bytes + 4 + 4 * layout.page_tokens  # with its id and its logits
    moved = rows * (width * per_page + HEADS * ((128 if fp8 else 256) + 4) + 4)
    return Case(
        kernel=f"indexer_logits {dtype}",
        size=f"{rows} requests x {entries:,} entries",
        make=partial(_inputs, device, dtype, rows, width),
        ours=_ours,
        plain=_plain,
        moved_bytes=moved,
        flops=2 * rows * entries * HEADS * 128,
        # compiled and timed it once ended in an illegal access (torch 2.11; called alone it runs)
        compiles=fp8 or rows * entries * 128 < 2**31,
        matrix="fp8" if fp8 else "bf16",
        peer=Peer("DeepGEMM", peer) if peer else None,
        goal=_goal(fp8, entries, peer),
        candidates={_name(p): partial(_ours, plan=p) for p in _plans(dtype, rows, width)},
        alone=partial(_ours, plan=replace(plan_for(rows, width), overlap=False)),
        resident_bytes=moved,
    )


def _goal(fp8: bool, entries: int, peer: float | None) -> Goal | None:
    if peer:
        return Goal(1.15, "peer")
    return Goal(1.3, "floor") if not fp8 and entries >= 16_384 else None


def _plans(dtype: str, rows: int, width: int) -> Iterator[LogitsPlan]:
    """Chunks of half, once and twice the chosen length, each to several depths; then the choice
    without overlap.
    """
    chosen = plan_for(rows, width)
    for chunk in (chosen.chunk // 2, chosen.chunk, chosen.chunk * 2):
        if 1 <= chunk <= LONGEST_CHUNK:
            yield from (LogitsPlan(chunk, stages) for stages in STAGES[dtype])
    yield replace(chosen, overlap=not chosen.overlap)


def _inputs(device: str, dtype: str, rows: int, width: int, seed: int) -> Inputs:
    g = torch.Generator(device).manual_seed(seed)
    layout = index_layout(dtype)
    src = layout.layer(layout.allocate(rows * width + 1, device), 0)
    q = torch.randn(rows, HEADS, 128, device=device, generator=g)
    weight = torch.randn(rows, HEADS, device=device, generator=g)
    if dtype == "fp8":
        src.pages.random_(0, 254, generator=g)
        src.pages.add_(src.pages >= 0x7F)  # every code but the two of NaN
        src.plane("scale").uniform_(0.01, 0.1, generator=g)
        unit = q.abs().amax(2) / 448
        q, weight = (q / unit[..., None]).to(torch.float8_e4m3fn), weight * unit
    else:
        src.plane("value").normal_(generator=g)
        q = q.to(torch.bfloat16)
    pages = 1 + torch.randperm(rows * width, device=device, generator=g)
    table = pages.view(rows, width).to(torch.int32)
    lens = torch.full((rows,), width * layout.page_tokens, dtype=torch.int32, device=device)
    return Inputs(src, q, weight, table, lens)


def _ours(x: Inputs, plan: LogitsPlan | None = None) -> Tensor:
    return indexer_logits_triton(x.src, x.q, x.weight, x.table, x.lens, plan=plan)


def _name(plan: LogitsPlan) -> str:
    how = f"{plan.chunk} pages, {plan.stages} stages"
    return how + ", no overlap" * (not plan.overlap)


def _plain(x: Inputs) -> Tensor:
    """Gathered pages, one product, a rectifier, and the sum over heads as another product."""
    rows, layout = len(x.table), x.src.layout
    pages = x.src.pages.index_select(0, x.table.flatten())
    values = pages[:, : layout.row_bytes("value") * layout.page_tokens]
    keys = values.view(layout.named("value").dtype).to(torch.bfloat16).view(rows, -1, 128)
    dots = torch.bmm(x.q.to(torch.bfloat16), keys.transpose(1, 2)).relu()
    out = torch.bmm(x.weight.to(torch.bfloat16)[:, None], dots)[:, 0].float()
    if len(layout.planes) > 1:
        out = out * pages[:, layout.offset("scale") :].view(torch.float32).reshape(rows, -1)
    ends = torch.arange(out.shape[1], device=out.device) >= x.lens[:, None]
    return out.masked_fill(ends, -torch.inf)

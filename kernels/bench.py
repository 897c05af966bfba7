"""What each operation costs at the product's own sizes: one decode step of a batch, one prefill
chunk, the pages that a host tier moves.

Rule: figures to read, never a test. Everything is drawn from one seed; a figure is the median of a
few runs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from kernels.cases import INDEX_K, filled, index_layout, latent_layout, noise
from kernels.layout import Order
from kernels.ops import Ops, Segment

PAGE, WINDOW, TOPK = 256, 128, 64
# (heads, tokens they look back, value dims) of the model's window layers
WINDOW_LAYERS = ((3, 4, (0, 385)), (11, 128, (0, 384)), (3, 48, (0, 208)), (4, 6, (0, 1)))
# the pools that have mirrors on the host; states are pages like any other
COPIED = {
    "swa": latent_layout(PAGE, 4),
    "c4": latent_layout(PAGE // 4, 1),
    "c128": latent_layout(PAGE // 128, 1),
    **{f"index-K {dtype}": index_layout(dtype) for dtype in INDEX_K},
}

Case = tuple[str, Callable[[], object]]
Copy = tuple[str, int, Callable[[], object]]  # with the bytes that it moves


@dataclass(frozen=True)
class Load:
    """A decode batch of `rows`, each `tokens` long, whose first halves `sharers` rows have in
    common, and a prefill chunk of `chunk` tokens.
    """

    rows: int = 60
    tokens: int = 6_800
    sharers: int = 10
    chunk: int = 2_048

    def page_table(self) -> Tensor:
        """int32 [rows, pages], every id distinct but for the shared halves."""
        pages = -(-self.tokens // PAGE)
        shared, row, col = pages // 2, torch.arange(self.rows)[:, None], torch.arange(pages)
        own = 1 + self.rows * shared + row * pages + col
        group = 1 + row // self.sharers * shared + col
        return torch.where(col < shared, group, own).to(torch.int32)


@dataclass(frozen=True)
class Figure:
    """One line of the table: an operation, whether it is part of a decode step, and its median."""

    name: str
    decode: bool
    ms: float


@dataclass(frozen=True)
class CopyFigure:
    """One kind of copy, and how many bytes it moved a second (each read once and written once)."""

    name: str
    gb_per_s: float


def measure(
    ops: Ops, load: Load | None = None, seed: int = 0, seconds: float = 0.2, only: str = ""
) -> Iterator[Figure]:
    """Times every operation of a decode step, then of a prefill chunk, for `seconds` each: those
    whose name has `only` in it, in lower case.
    """
    load = load or Load()
    g = torch.Generator().manual_seed(seed)
    for decode, cases in ((True, _decode_cases), (False, _prefill_cases)):
        for name, call in cases(ops, load, g):
            if only not in name.lower():
                continue
            yield Figure(name, decode, _median_s(call, seconds) * 1e3)


def measure_copies(
    ops: Ops, pages: int = 16, seed: int = 0, seconds: float = 0.2, only: str = ""
) -> Iterator[CopyFigure]:
    """Times copies of `pages` pages in no order between pools 16 times as large: by page rows into
    each order of nesting, then by tokens; those whose name has `only` in it, in lower case.
    """
    for name, moved, run in _copies(ops, pages, torch.Generator().manual_seed(seed)):
        if only in name.lower():
            yield CopyFigure(name, _gb_per_s(run, moved, seconds))


def _copies(ops: Ops, pages: int, g: torch.Generator) -> Iterator[Copy]:
    """Each in pools of its own, which the next one need not hold."""
    for pool, layout in COPIED.items():
        to, frm = (torch.randperm(16 * pages, generator=g)[:pages] for _ in range(2))
        src = noise(layout, 16 * pages, g)
        for order in Order if layout.layers > 1 else (Order.LAYER_FIRST,):
            other = replace(layout, order=order)
            dst = other.allocate(16 * pages)
            run = partial(ops.page_copy, other.by_page(dst), layout.by_page(src), to, frm)
            moved = pages * layout.layers * layout.page_bytes
            yield f"{pool}, pages to {order.value}", moved, run
        tokens = torch.arange(layout.page_tokens)
        into, out_of = ((p[:, None] * len(tokens) + tokens).flatten() for p in (to, frm))
        views = other.layer(dst, 0), layout.layer(src, 0)
        run = partial(ops.token_copy, *views, into, out_of)
        moved = len(into) * sum(p.row_bytes for p in layout.planes)
        yield f"{pool}, tokens", moved, run


def _gb_per_s(call: Callable[[], object], moved_bytes: int, seconds: float) -> float:
    return moved_bytes / _median_s(call, seconds) / 1e9


def _median_s(call: Callable[[], object], seconds: float) -> float:
    call()
    timer = Timer("call()", globals={"call": call}, num_threads=torch.get_num_threads())
    return float(timer.blocked_autorange(min_run_time=seconds).median)


def _decode_cases(ops: Ops, load: Load, g: torch.Generator) -> Iterator[Case]:
    table, rows = load.page_table(), load.rows
    pages, live = int(table.max()) + 1, torch.ones(rows, dtype=torch.bool)
    at = torch.arange(load.tokens - WINDOW, load.tokens)
    slots = table[:, at // PAGE] * PAGE + (at % PAGE).to(torch.int32)
    newest = slots[:, -1].long()

    swa = filled(ops, latent_layout(PAGE), pages, g)
    for heads, reach, dims in WINDOW_LAYERS:
        q, seen = torch.randn(rows, heads, 64, generator=g), Segment(swa, slots[:, -reach:])
        name = f"window of {reach}, {heads} heads, {dims[1]} dims"
        yield name, partial(_attend, ops, q, seen, rope_only=True, dims=dims)
    latent = torch.randn(rows, 512, generator=g)
    yield "store latent", partial(ops.store_latent, swa, latent, newest, live)
    del swa

    entry = torch.arange(load.tokens // 128)
    slots = table[:, entry // 2] * 2 + (entry % 2).to(torch.int32)
    c128 = filled(ops, latent_layout(PAGE // 128), pages, g)
    q = torch.randn(rows, 1, 512, generator=g)
    yield "c128, 1 head", partial(_attend, ops, q, Segment(c128, slots))

    lens = torch.full((rows,), load.tokens // 4, dtype=torch.int32)
    key, weight = torch.randn(rows, 128, generator=g), torch.ones(rows, 1)
    for name in INDEX_K:
        index = filled(ops, index_layout(name), pages, g)
        run = partial(ops.indexer_logits, index, key[:, None], weight, table, lens)
        yield f"index logits, {name}", run
        yield f"store index-K, {name}", partial(ops.store_index_k, index, key, newest // 4, live)
    logits = run()
    yield "top-k v1", partial(ops.topk_slots_v1, logits, lens, table, TOPK)
    yield "top-k v2", partial(ops.topk_slots_v2, logits, lens, table, TOPK)

    slots = ops.topk_slots_v1(logits, lens, table, TOPK)
    c4 = filled(ops, latent_layout(PAGE // 4), pages, g)
    q = torch.randn(rows, 4, 512, generator=g)
    yield "c4, 4 heads", partial(_attend, ops, q, Segment(c4, slots))


def _prefill_cases(ops: Ops, load: Load, g: torch.Generator) -> Iterator[Case]:
    swa = filled(ops, latent_layout(PAGE), 2 + (load.chunk + WINDOW) // PAGE, g)
    context = PAGE + torch.arange(load.chunk + WINDOW)
    for heads, reach, dims in WINDOW_LAYERS:
        q, sink = torch.randn(load.chunk, heads, 64, generator=g), torch.zeros(heads)
        run = partial(ops.window_attention, q, swa, context, reach, sink)
        name = f"{load.chunk} tokens, window of {reach}, {heads} heads, {dims[1]} dims"
        yield name, partial(run, rope_only=True, dims=dims)
    latent = torch.randn(load.chunk, 512, generator=g)
    live = torch.ones(load.chunk, dtype=torch.bool)
    run_store = partial(ops.store_latent, swa, latent, context[: load.chunk], live)
    yield f"store latent of {load.chunk}", run_store


def _attend(
    ops: Ops,
    q: Tensor,
    segment: Segment,
    rope_only: bool = False,
    dims: tuple[int, int] | None = None,
) -> object:
    zero = torch.zeros(q.shape[1])
    return ops.sparse_attention(q, (segment,), zero[:, None], zero, rope_only=rope_only, dims=dims)

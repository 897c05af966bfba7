"""Copies of pages and tokens: between the device's pools and pinned host memory, within the device,
and the digest of pages.

Rule: pages lie in no order on either side, and a link's case moves 64 MiB or more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from kernels.cases import index_layout, latent_layout
from kernels.layout import LayerView, Order, PageLayout
from kernels.page_copy import PageCopyPlan, page_copy_plan, page_copy_ref, page_copy_triton
from kernels.page_digest import GOLDEN, MIX, PageDigestPlan, page_digest_triton
from kernels.production.case import Call, Case, Goal
from kernels.token_copy import TokenCopyPlan, token_copy_ref, token_copy_triton

MOVED, SMALL_PAGES, TOKENS = 64 << 20, 5, 8_192
# what a host tier keeps: 43 layers' windows, 21 with four tokens an entry, 20 with 128
POOLS = {
    "c4": latent_layout(64, 21),
    "index-K fp8": index_layout("fp8", 21),
    "index-K bf16": index_layout("bf16", 21),
    "swa": latent_layout(256, 43),
    "c128": latent_layout(2, 20),
}
TUNED = {(name, order) for name in ("c4", "c128") for order in list(Order)[:2]}
LONG_CUTS = (  # units, warps, programs: of rows of many memory lines, then of few
    (512, 4, 132),
    (1024, 8, 264),
    (1024, 4, 264),
    (2048, 8, 132),
    (2048, 16, 66),
    (4096, 16, 16),
)
SHORT_CUTS = ((64, 2, 1056), (128, 4, 132), (512, 4, 264), (512, 4, 1056), (1024, 4, 132))


@dataclass(frozen=True, eq=False)
class Pages:
    """Arguments of a page copy, uint8 `[page, layer, bytes]` each side; `pool` is the device's, and
    what is compared first waits for it.
    """

    pool: Tensor
    other: Tensor
    pool_pages: Tensor
    other_pages: Tensor
    to_pool: bool


@dataclass(frozen=True, eq=False)
class Tokens:
    """Arguments of a token copy."""

    dst: LayerView
    src: LayerView
    dst_slots: Tensor
    src_slots: Tensor


@dataclass(frozen=True, eq=False)
class Digests:
    """Arguments of a page digest."""

    src: LayerView
    pages: Tensor


def cases(device: str, small: bool = False) -> Iterator[Case]:
    """Page copies over the link, every pool and order, both ways; then within the device."""
    for name, layout in POOLS.items():
        for order in Order:
            for to_pool in (False, True):
                yield _over_link(device, small, name, replace(layout, order=order), to_pool)
    yield _within_device(device, small)
    for name, layout in (("c4", latent_layout(64, 1)), ("index-K fp8", index_layout("fp8"))):
        yield _tokens(device, small, name, layout)
    for pages in (32, 1_024):
        yield _digest(device, small, pages)


def _over_link(device: str, small: bool, name: str, layout: PageLayout, to_pool: bool) -> Case:
    layout, pages, moved = _sized(layout, small)
    base = page_copy_plan(to_pool, not to_pool, layout.page_bytes)
    tuned = (name, layout.order) in TUNED
    return Case(
        kernel=f"page copy {'h2d' if to_pool else 'd2h'}",
        size=f"{name}, {layout.order.value}, {pages} pages",
        make=partial(_link_pages, device, layout, pages, to_pool),
        ours=_copy,
        plain=None,
        base=_copy_by_reference,
        moved_bytes=moved,
        link="h2d" if to_pool else "d2h",
        compiles=False,
        goal=Goal(1 / 0.9, "link"),
        candidates=_copy_candidates(_link_plans(base, to_pool)) if tuned else {},
        resident_bytes=2 * moved,
    )


def _within_device(device: str, small: bool) -> Case:
    layout, pages, moved = _sized(POOLS["c4"], small)
    sizes = ((256, 4, 0), (512, 4, 0), (512, 8, 0), (1024, 8, 0))
    plans = [PageCopyPlan(*size, by_dst=True) for size in sizes]
    return Case(
        kernel="page copy d2d",
        size=f"c4, {pages} pages",
        make=partial(_device_pages, device, layout, pages),
        ours=_copy,
        plain=_plain_copy,
        moved_bytes=2 * moved,
        candidates=_copy_candidates(plans),
        resident_bytes=2 * moved,
    )


def _tokens(device: str, small: bool, name: str, layout: PageLayout) -> Case:
    count = 3 * layout.page_tokens if small else TOKENS
    moved = count * (2 * sum(p.row_bytes for p in layout.planes) + 16)
    plans = [TokenCopyPlan(*size) for size in ((128, 4), (256, 4), (256, 8), (512, 4))]
    return Case(
        kernel="token copy",
        size=f"{name}, {count:,} tokens",
        make=partial(_token_inputs, device, layout, count),
        ours=_copy_tokens,
        plain=lambda it: token_copy_ref(it.dst, it.src, it.dst_slots, it.src_slots),
        moved_bytes=moved,
        compiles=False,
        candidates={
            f"{p.block} units, {p.warps} warps": partial(_copy_tokens, plan=p) for p in plans
        },
        resident_bytes=moved,
    )


def _digest(device: str, small: bool, pages: int) -> Case:
    layout, few = latent_layout(64, 1), pages < 512
    pages = SMALL_PAGES if small else pages
    moved = pages * (layout.page_bytes + 16)
    few_cuts = ((256, 4, 8), (256, 4, 16), (128, 4, 16), (512, 4, 8))
    many_cuts = ((512, 4, 1), (256, 4, 1), (256, 2, 1), (512, 8, 1))
    plans = [PageDigestPlan(*cut) for cut in (few_cuts if few else many_cuts)]
    return Case(
        kernel="page digest",
        size=f"c4, {pages:,} pages",
        make=partial(_digest_inputs, device, layout, pages),
        ours=_take_digest,
        plain=_plain_digest,
        moved_bytes=moved,
        candidates={
            f"{p.block} units, {p.warps} warps, {p.parts} parts": partial(_take_digest, plan=p)
            for p in plans
        },
        resident_bytes=moved,
    )


def _sized(layout: PageLayout, small: bool) -> tuple[PageLayout, int, int]:
    """(the pool, how many of its pages move, their bytes)."""
    layout = replace(layout, layers=2) if small else layout
    pages = SMALL_PAGES if small else -(-MOVED // (layout.page_bytes * layout.layers))
    return layout, pages, pages * layout.page_bytes * layout.layers


def _link_plans(base: PageCopyPlan, to_pool: bool) -> Iterator[PageCopyPlan]:
    """The choice cut up otherwise, then with hints, then with other ideas of a row and a line."""
    yield base
    for block, warps, programs in SHORT_CUTS if base.block < LONG_CUTS[0][0] else LONG_CUTS:
        yield replace(base, block=block, warps=warps, programs=programs)
    if to_pool:
        yield replace(base, read=".cg")
    else:
        yield from (replace(base, write=hint) for hint in (".cs", ".wt"))
    yield replace(base, join=False)
    yield replace(base, line=256)


def _copy_candidates(plans: Iterator[PageCopyPlan] | list[PageCopyPlan]) -> dict[str, Call]:
    return {_name(plan): partial(_copy, plan=plan) for plan in plans}


def _name(plan: PageCopyPlan) -> str:
    programs = plan.programs or "all"
    hints = "".join(f", {h}" for h in (plan.read, plan.write, "" if plan.join else "apart") if h)
    lines = f"{'dst' if plan.by_dst else 'src'}'s {plan.line} B"
    return f"{plan.block} units, {plan.warps} warps, {programs} programs, {lines}{hints}"


def _link_pages(device: str, layout: PageLayout, pages: int, to_pool: bool, seed: int) -> Pages:
    g = torch.Generator(device).manual_seed(seed)
    on_device = replace(layout, order=Order.LAYER_FIRST)
    held = pages + pages // 8 + 1
    pool = on_device.allocate(held, device)
    other = layout.allocate(held, pin=device == "cuda")
    full = other if to_pool else pool
    full.copy_(_noise(full.shape, device, g))
    here, there = (torch.randperm(held, device=device, generator=g)[:pages] for _ in range(2))
    return Pages(on_device.by_page(pool), layout.by_page(other), here, there, to_pool)


def _device_pages(device: str, layout: PageLayout, pages: int, seed: int) -> Pages:
    g = torch.Generator(device).manual_seed(seed)
    pool, other = layout.allocate(pages, device), layout.allocate(pages, device)
    pool.copy_(_noise(pool.shape, device, g))
    here, there = (torch.randperm(pages, device=device, generator=g) for _ in range(2))
    return Pages(layout.by_page(pool), layout.by_page(other), here, there, False)


def _token_inputs(device: str, layout: PageLayout, count: int, seed: int) -> Tokens:
    g = torch.Generator(device).manual_seed(seed)
    pages = count // layout.page_tokens
    src, dst = (layout.allocate(pages, device) for _ in range(2))
    src.copy_(_noise(src.shape, device, g))
    into, out_of = (_slots(layout, pages, g) for _ in range(2))
    return Tokens(layout.layer(dst, 0), layout.layer(src, 0), into, out_of)


def _slots(layout: PageLayout, pages: int, g: torch.Generator) -> Tensor:
    """int64 slots of all tokens, page after page in no order."""
    tokens = torch.arange(layout.page_tokens, device=g.device)
    order = torch.randperm(pages, device=g.device, generator=g)
    return (order[:, None] * layout.page_tokens + tokens).flatten()


def _digest_inputs(device: str, layout: PageLayout, pages: int, seed: int) -> Digests:
    g = torch.Generator(device).manual_seed(seed)
    pool = _noise(layout.allocate(pages, device).shape, device, g)
    return Digests(layout.layer(pool, 0), torch.randperm(pages, device=device, generator=g))


def _noise(shape: torch.Size, device: str, g: torch.Generator) -> Tensor:
    return torch.randint(0, 256, shape, device=device, generator=g, dtype=torch.uint8)


def _copy(it: Pages, plan: PageCopyPlan | None = None) -> None:
    page_copy_triton(*_ends(it), plan)


def _copy_by_reference(it: Pages) -> None:
    page_copy_ref(*_ends(it))


def _ends(it: Pages) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Where to, where from, and the pages of each."""
    to, frm = (it.pool, it.other) if it.to_pool else (it.other, it.pool)
    into, out_of = (it.pool_pages, it.other_pages)[:: 1 if it.to_pool else -1]
    return to, frm, into, out_of


def _plain_copy(it: Pages) -> None:
    it.other[it.other_pages] = it.pool[it.pool_pages]


def _copy_tokens(it: Tokens, plan: TokenCopyPlan | None = None) -> None:
    token_copy_triton(it.dst, it.src, it.dst_slots, it.src_slots, plan=plan)


def _plain_digest(it: Digests) -> Tensor:
    """All pages at a time: the sum of what becomes of each 64-bit word and its place."""
    words = it.src.pages.index_select(0, it.pages).view(torch.int64)
    x = words + torch.arange(1, words.shape[1] + 1, device=words.device) * GOLDEN
    x = (x ^ (x >> 30)) * MIX
    return (x ^ (x >> 27)).sum(1)


def _take_digest(it: Digests, plan: PageDigestPlan | None = None) -> Tensor:
    return page_digest_triton(it.src, it.pages, plan)

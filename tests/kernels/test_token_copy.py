"""A token's bytes travel as a whole, and each side keeps them where its own layout says."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from kernels import exact
from kernels.cases import INDEX_K, ROWS, index_layout, latent_layout, noise, odd_layout
from kernels.layout import Order, PageLayout, Plane
from kernels.ops import LayerView, Ops
from kernels.token_copy import TokenCopyPlan

PAGES = 5
# what a token copy may join: page sizes that differ, both index dtypes, rows that fit no word
PAIRS = [
    (latent_layout(64), latent_layout(256)),
    (latent_layout(2), latent_layout(64)),
    *((index_layout(d), index_layout(d)) for d in INDEX_K),
    (odd_layout(40), odd_layout(17)),
]


def slots_of(layout: PageLayout, rows: int, g: torch.Generator) -> torch.Tensor:
    """int64 [rows] of distinct slots, in no order; fewer where there are fewer."""
    return torch.randperm(PAGES * layout.page_tokens, generator=g)[:rows]


def views(to: PageLayout, frm: PageLayout, g: torch.Generator) -> tuple[LayerView, LayerView]:
    """The last layer of a pool of 0xFF, and of one of random bytes."""
    dst = to.layer(to.allocate(PAGES, fill=0xFF), to.layers - 1)
    return dst, frm.layer(noise(frm, PAGES, g), frm.layers - 1)


def copied(view: LayerView) -> LayerView:
    return LayerView(view.layout, view.pages.clone())


@pytest.mark.parametrize(("to", "frm"), PAIRS)
@pytest.mark.parametrize("rows", ROWS)
def test_every_plane_of_a_token_arrives(
    ops: Ops, to: PageLayout, frm: PageLayout, rows: int, g: torch.Generator
) -> None:
    dst, src = views(to, frm, g)
    want, into, out_of = copied(dst), slots_of(to, rows, g), slots_of(frm, rows, g)
    count = min(len(into), len(out_of))
    ops.token_copy(dst, src, into[:count], out_of[:count])
    exact.copy_tokens(want, src, into[:count].tolist(), out_of[:count].tolist())
    assert torch.equal(dst.pages, want.pages)


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("kind", ["latent", "odd"])
def test_pages_may_lie_apart_and_layers_stay_apart(
    ops: Ops, kind: str, order: Order, g: torch.Generator
) -> None:
    layout = latent_layout(2, 3, order) if kind == "latent" else odd_layout(2, 3, order)
    plain = latent_layout(2) if kind == "latent" else odd_layout(2)
    buffer = layout.allocate(PAGES, fill=0xFF)
    want = buffer.clone()
    src = plain.layer(noise(plain, PAGES, g), 0)
    into, out_of = slots_of(layout, 7, g), slots_of(plain, 7, g)
    ops.token_copy(layout.layer(buffer, 1), src, into, out_of)
    exact.copy_tokens(layout.layer(want, 1), src, into.tolist(), out_of.tolist())
    assert torch.equal(buffer, want)


@pytest.mark.parametrize(("to", "frm"), PAIRS)
def test_dead_rows_write_nothing_whatever_their_slots(
    ops: Ops, to: PageLayout, frm: PageLayout, g: torch.Generator
) -> None:
    dst, src = views(to, frm, g)
    want, into, out_of = copied(dst), slots_of(to, 9, g), slots_of(frm, 9, g)
    live = torch.tensor([True, False, True, False, False, True, True, False, True])
    exact.copy_tokens(want, src, into[live].tolist(), out_of[live].tolist())
    into[1], out_of[3], into[4], out_of[4] = -1, -1, 1 << 40, 1 << 40
    ops.token_copy(dst, src, into, out_of, live)
    assert torch.equal(dst.pages, want.pages)
    ops.token_copy(dst, src, into, out_of, torch.zeros_like(live))
    assert torch.equal(dst.pages, want.pages)


@pytest.mark.kernels
@pytest.mark.parametrize("block", [16, 64, 2_048])
@pytest.mark.parametrize(("to", "frm"), PAIRS)
def test_however_a_copy_is_cut_up_every_token_arrives(
    ops: Ops, to: PageLayout, frm: PageLayout, block: int, g: torch.Generator
) -> None:
    dst, src = views(to, frm, g)
    want, into, out_of = copied(dst), slots_of(to, 9, g), slots_of(frm, 9, g)
    copy: Any = ops.token_copy
    how = {} if ops == Ops.reference() else {"plan": TokenCopyPlan(block, 4)}
    copy(dst, src, into, out_of, **how)
    exact.copy_tokens(want, src, into.tolist(), out_of.tolist())
    assert torch.equal(dst.pages, want.pages)


def test_three_planes_are_copied_as_well(ops: Ops, g: torch.Generator) -> None:
    planes = tuple(Plane(name, n, torch.uint8) for name, n in (("a", 16), ("b", 8), ("c", 3)))
    layout = PageLayout(planes, 4, 1, row_align=16)
    dst, src = views(layout, layout, g)
    want, into, out_of = copied(dst), slots_of(layout, 9, g), slots_of(layout, 9, g)
    ops.token_copy(dst, src, into, out_of)
    exact.copy_tokens(want, src, into.tolist(), out_of.tolist())
    assert torch.equal(dst.pages, want.pages)


def test_no_tokens_are_no_work(ops: Ops, g: torch.Generator) -> None:
    dst, src = views(latent_layout(64), latent_layout(64), g)
    none = torch.empty(0, dtype=torch.int64)
    ops.token_copy(dst, src, none, none)
    assert bool((dst.pages == 0xFF).all())


def test_a_round_trip_by_tokens_restores_the_page(ops: Ops, g: torch.Generator) -> None:
    dst, src = views(latent_layout(256, 1), latent_layout(256, 1), g)
    for start, end in ((0, 192), (192, 256)):
        piece = torch.arange(256 + start, 256 + end)
        ops.token_copy(dst, src, piece + 256, piece)
    used = sum(plane.row_bytes for plane in src.layout.planes) * 256
    assert torch.equal(dst.pages[2, :used], src.pages[1, :used])


def test_tokens_of_other_planes_are_refused(ops: Ops, g: torch.Generator) -> None:
    dst, src = views(index_layout("fp8"), index_layout("bf16"), g)
    with pytest.raises(ValueError, match=r"tokens of .*bfloat16.* cannot go to .*float8"):
        ops.token_copy(dst, src, torch.tensor([1]), torch.tensor([1]))


@pytest.mark.gpu
@pytest.mark.parametrize("make", [Ops.reference, Ops.triton])
@pytest.mark.parametrize("ids", ["cpu", "cuda"])
def test_tokens_go_to_pinned_memory_and_come_back(
    make: Callable[[], Ops], ids: str, g: torch.Generator
) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    copy, layout = make().token_copy, latent_layout(64, 1)
    src = layout.layer(noise(layout, PAGES, g).cuda(), 0)
    host = layout.layer(layout.allocate(PAGES, fill=0xFF, pin=True), 0)
    back = LayerView(layout, torch.full_like(src.pages, 0xFF))
    into, out_of = slots_of(layout, 65, g), slots_of(layout, 65, g)
    live = torch.rand(65, generator=g) < 0.5
    copy(host, src, into.to(ids), out_of.to(ids), live.to(ids))
    copy(back, host, out_of.to(ids), into.to(ids), live.to(ids))
    torch.cuda.synchronize()
    want = LayerView(layout, torch.full(src.pages.shape, 0xFF, dtype=torch.uint8))
    kept = out_of[live].tolist()
    exact.copy_tokens(want, LayerView(layout, src.pages.cpu()), kept, kept)
    assert torch.equal(back.pages.cpu(), want.pages)

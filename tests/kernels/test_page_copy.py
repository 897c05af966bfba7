"""A page copy moves the bytes it was asked for, each to its place, and touches no other."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from kernels import exact
from kernels.cases import PAGES, index_layout, latent_layout, noise, odd_layout
from kernels.layout import Order, PageLayout, Plane
from kernels.ops import Ops
from kernels.page_copy import PageCopyPlan

ORDERS = [(Order.LAYER_FIRST, o) for o in Order] + [(o, Order.LAYER_FIRST) for o in Order]


PLANS = [
    PageCopyPlan(16, 1, 3, by_dst=True),
    PageCopyPlan(128, 4, 0, by_dst=False),
    PageCopyPlan(4096, 4, 1, by_dst=True, read=".cg", write=".cs", join=False, line=256),
]


def scattered(count: int, pages: int, g: torch.Generator) -> torch.Tensor:
    """int64 [count] of distinct pages, in no order."""
    return torch.randperm(pages, generator=g)[:count]


def check(
    ops: Ops,
    to: PageLayout,
    frm: PageLayout,
    count: int,
    layers: slice,
    g: torch.Generator,
    plan: PageCopyPlan | None = None,
) -> None:
    """Copy `count` pages between pools of 70 pages, cut up as `plan` says where Triton does it, and
    compare the whole of the destination.
    """
    source = frm.by_page(noise(frm, 70, g))[:, layers]
    buffer = to.allocate(70, fill=0xFF)
    want = buffer.clone()
    dst_pages, src_pages = scattered(count, 70, g), scattered(count, 70, g)
    copy: Any = ops.page_copy
    how = {} if plan is None or ops == Ops.reference() else {"plan": plan}
    copy(to.by_page(buffer)[:, layers], source, dst_pages, src_pages, **how)
    width = min(to.page_bytes, frm.page_bytes)
    expected = to.by_page(want)[:, layers]
    exact.copy_pages(expected, source, dst_pages.tolist(), src_pages.tolist(), width)
    assert torch.equal(buffer, want)


@pytest.mark.parametrize(("to", "frm"), ORDERS)
@pytest.mark.parametrize("count", PAGES)
def test_pages_of_every_layer_arrive_in_any_order_of_nesting(
    ops: Ops, to: Order, frm: Order, count: int, g: torch.Generator
) -> None:
    check(ops, latent_layout(2, 2, to), latent_layout(2, 2, frm), count, slice(None), g)


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("layer", range(3))
def test_one_layer_alone_is_copied(ops: Ops, layer: int, order: Order, g: torch.Generator) -> None:
    one = slice(layer, layer + 1)
    check(ops, latent_layout(2, 3, order), latent_layout(2, 3), 5, one, g)


@pytest.mark.parametrize("order", Order)
def test_bytes_that_fit_no_word_are_copied_too(ops: Ops, order: Order, g: torch.Generator) -> None:
    check(ops, odd_layout(order=order), odd_layout(), 63, slice(None), g)


@pytest.mark.parametrize(("to", "frm"), [("fp8", "bf16"), ("bf16", "fp8")])
def test_the_shorter_row_decides(ops: Ops, to: str, frm: str, g: torch.Generator) -> None:
    check(ops, index_layout(to, 2), index_layout(frm, 2), 3, slice(None), g)


@pytest.mark.kernels
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("row_bytes", [5, 24, 72, 1_016, 1_024, 1_728])
def test_however_a_copy_is_cut_up_rows_may_lie_across_memory_lines(
    ops: Ops, row_bytes: int, plan: PageCopyPlan, g: torch.Generator
) -> None:
    """Rows that begin on no line of 128 bytes, of words of 1, 8 and 16 bytes; of some plans and
    sides the rows of all layers are one.
    """
    plane = Plane("a", row_bytes, torch.uint8)
    one, other = PageLayout((plane,), 1, 3, Order.PAGE_FIRST), PageLayout((plane,), 1, 3)
    check(ops, one, other, 7, slice(None), g, plan)
    check(ops, other, one, 7, slice(None), g, plan)
    check(ops, one, one, 7, slice(1, 3), g, plan)


def test_a_ragged_width_between_odd_and_even_rows(ops: Ops, g: torch.Generator) -> None:
    check(ops, odd_layout(), latent_layout(2, 3), 4, slice(None), g)


def test_a_run_of_neighbours_is_copied_in_order(ops: Ops, g: torch.Generator) -> None:
    layout = latent_layout(2, 1)
    source, buffer = layout.by_page(noise(layout, 9, g)), layout.by_page(layout.allocate(9))
    ops.page_copy(buffer, source, torch.arange(2, 7), torch.arange(4, 9))
    assert torch.equal(buffer[2:7], source[4:9])
    assert not bool(buffer[:2].any() or buffer[7:].any())


def test_no_pages_are_no_work(ops: Ops, g: torch.Generator) -> None:
    check(ops, latent_layout(2), latent_layout(2), 0, slice(None), g)


def test_layers_or_counts_that_differ_are_refused(ops: Ops) -> None:
    two, three = (latent_layout(2, n) for n in (2, 3))
    pages = [layout.by_page(layout.allocate(4)) for layout in (two, three)]
    with pytest.raises(ValueError, match="3 layers cannot go to one of 2"):
        ops.page_copy(pages[0], pages[1], torch.tensor([1]), torch.tensor([1]))
    with pytest.raises(ValueError, match="1 pages cannot go to 2"):
        ops.page_copy(pages[0], pages[0], torch.tensor([1, 2]), torch.tensor([3]))


@pytest.mark.gpu
@pytest.mark.parametrize("make", [Ops.reference, Ops.triton])
@pytest.mark.parametrize("order", Order)
def test_pages_go_to_pinned_memory_and_come_back(
    make: Callable[[], Ops], order: Order, g: torch.Generator
) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    copy, on_host, on_device = make().page_copy, latent_layout(2, 3, order), latent_layout(2, 3)
    have = noise(on_device, 70, g).cuda()
    host, back = on_host.allocate(90, fill=0xFF, pin=True), torch.zeros_like(have)
    device_pages, host_pages = scattered(65, 70, g), scattered(65, 90, g)
    copy(on_host.by_page(host), on_device.by_page(have), host_pages, device_pages)
    copy(on_device.by_page(back), on_host.by_page(host), device_pages, host_pages)
    torch.cuda.synchronize()
    want = torch.zeros_like(have)
    want[:, device_pages] = have[:, device_pages]
    assert torch.equal(back, want)
    assert torch.equal(
        on_host.by_page(host)[host_pages], on_device.by_page(have.cpu())[device_pages]
    )

"""A digest binds every byte to its place in the page, and to nothing else."""

from typing import Any

import pytest
import torch

from kernels.cases import index_layout, latent_layout
from kernels.layout import LayerView, Order, PageLayout, Plane
from kernels.ops import Ops
from kernels.page_digest import PageDigestPlan


def random_pages(layout: PageLayout, pages: int, g: torch.Generator) -> LayerView:
    view = layout.layer(layout.allocate(pages), 0)
    view.pages.copy_(torch.randint(0, 256, view.pages.shape, generator=g, dtype=torch.uint8))
    return view


@pytest.mark.parametrize("layout", [latent_layout(2), index_layout("fp8"), index_layout("bf16")])
def test_swapping_two_rows_inside_a_page_changes_the_digest(
    ops: Ops, layout: PageLayout, g: torch.Generator
) -> None:
    view = random_pages(layout, 3, g)
    before = ops.page_digest(view, torch.arange(3))
    rows = view.plane("value")[1]
    rows[[0, 1]] = rows[[1, 0]]
    after = ops.page_digest(view, torch.arange(3))
    assert (before == after).tolist() == [True, False, True]


def test_any_flipped_bit_changes_the_digest(ops: Ops, g: torch.Generator) -> None:
    view = random_pages(latent_layout(2), 1, g)
    pages = torch.zeros(1, dtype=torch.int64)
    before = ops.page_digest(view, pages)
    for byte in (0, 7, 1_000, 1_727):
        for bit in (1, 128):
            view.pages[0, byte] ^= bit
            assert int(ops.page_digest(view, pages)) != int(before)
            view.pages[0, byte] ^= bit
    assert int(ops.page_digest(view, pages)) == int(before)


def test_two_top_bits_do_not_cancel(ops: Ops) -> None:
    layout = index_layout("bf16")
    view = layout.layer(layout.allocate(2), 0)
    view.pages[1, [7, 15]] = 128
    a, b = ops.page_digest(view, torch.arange(2)).tolist()
    assert a != b


@pytest.mark.parametrize("order", Order)
def test_equal_bytes_have_one_digest_in_any_order_and_place(
    ops: Ops, order: Order, g: torch.Generator
) -> None:
    plain = random_pages(latent_layout(2), 4, g)
    layout = latent_layout(2, layers=3, order=order)
    other = layout.layer(layout.allocate(4), 2)
    other.pages.copy_(plain.pages.flip(0))
    here = ops.page_digest(plain, torch.tensor([0, 3, 1]))
    there = ops.page_digest(other, torch.tensor([3, 0, 2]))
    assert torch.equal(here, there)
    assert torch.equal(here, Ops.reference().page_digest(plain, torch.tensor([0, 3, 1])))


@pytest.mark.kernels
@pytest.mark.parametrize("plan", [PageDigestPlan(16, 1, 1), PageDigestPlan(16, 4, 5)])
@pytest.mark.parametrize("row_bytes", [8, 24, 512, 1_016])
def test_parts_of_a_page_add_up_to_its_digest(
    ops: Ops, row_bytes: int, plan: PageDigestPlan, g: torch.Generator
) -> None:
    layout = PageLayout((Plane("a", row_bytes, torch.uint8),), 1, 3, Order.PAGE_FIRST)
    view = random_pages(layout, 5, g)
    digest: Any = ops.page_digest
    how = {} if ops == Ops.reference() else {"plan": plan}
    found = digest(view, torch.tensor([4, 0, 3]), **how)
    assert torch.equal(found, Ops.reference().page_digest(view, torch.tensor([4, 0, 3])))


def test_a_page_of_odd_bytes_has_a_digest_too(g: torch.Generator) -> None:
    view = random_pages(PageLayout((Plane("a", 13, torch.uint8),), 1, 1), 5, g)
    digests = Ops.reference().page_digest(view, torch.arange(5))
    assert len({*digests.tolist()}) == 5
    assert Ops.reference().page_digest(view, torch.arange(0)).shape == (0,)

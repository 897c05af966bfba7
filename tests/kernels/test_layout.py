"""A page's size and place are said once, and every order shows the same bytes."""

import pytest
import torch

from kernels.cases import index_layout, latent_layout
from kernels.layout import Order, PageLayout, Plane

ODD = PageLayout((Plane("a", 3, torch.int16), Plane("b", 5, torch.uint8)), 7, 3, row_align=16)


@pytest.mark.parametrize(
    ("layout", "page_bytes"),
    [
        (latent_layout(256), 149_760),
        (latent_layout(64), 37_440),
        (latent_layout(2), 1_728),
        (index_layout("fp8"), 8_448),
        (index_layout("bf16"), 16_384),
        (ODD, 80),
    ],
)
def test_a_page_has_the_production_size(layout: PageLayout, page_bytes: int) -> None:
    assert layout.page_bytes == page_bytes


def test_planes_follow_each_other() -> None:
    assert latent_layout(64).offset("scale") == 36_864
    assert index_layout("fp8").offset("scale") == 8_192
    assert ODD.offset("b") == 42
    assert ODD.row_bytes("a") == 6


def test_an_unknown_plane_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"no plane 'rope'.*value.*scale"):
        latent_layout(64).offset("rope")


@pytest.mark.parametrize("order", Order)
def test_every_order_gives_the_same_view_by_page(order: Order) -> None:
    layout = latent_layout(2, layers=3, order=order)
    buf = layout.allocate(5)
    view = layout.by_page(buf)
    assert view.shape == (5, 3, 1_728)
    assert view.data_ptr() == buf.data_ptr()
    view[4, 2, 1_000] = 7
    assert int(buf.count_nonzero()) == 1
    assert int(layout.layer(buf, 2).pages[4, 1_000]) == 7


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("tokens", [2, 64, 256])
def test_rows_written_by_slot_lie_where_the_plane_shows_them(order: Order, tokens: int) -> None:
    layout = latent_layout(tokens, layers=2, order=order)
    view = layout.layer(layout.allocate(4), 1)
    slots = torch.tensor([tokens, 4 * tokens - 1, 0])
    for name, width in (("value", 576), ("scale", 8)):
        rows = torch.randint(1, 255, (3, width), dtype=torch.uint8)
        view.scatter(name, slots, rows)
        assert torch.equal(view.gather(name, slots), rows)
        assert torch.equal(view.plane(name)[slots // tokens, slots % tokens], rows)
    assert int(layout.layer(view.pages[None], 0).pages.count_nonzero()) > 0
    assert int(view.pages.count_nonzero()) == 3 * (576 + 8)


def test_rows_that_no_flat_matrix_can_hold_are_still_gathered() -> None:
    view = ODD.layer(ODD.allocate(3), 1)
    assert "a" not in view.flat
    rows = torch.randint(1, 255, (2, 6), dtype=torch.uint8)
    slots = torch.tensor([8, 20])
    view.scatter("a", slots, rows)
    assert torch.equal(view.gather("a", slots), rows)


def test_fill_poisons_every_byte() -> None:
    layout = index_layout("fp8")
    view = layout.layer(layout.allocate(2, fill=0xFF), 0)
    assert bool(view.plane("scale").isnan().all())
    assert bool(view.plane("value").float().isnan().all())


def test_rows_first_read_in_inference_mode_may_be_written_outside_of_it() -> None:
    layout = latent_layout(64)
    view = layout.layer(layout.allocate(2), 0)
    slot = torch.tensor([3])
    with torch.inference_mode():
        view.gather("value", slot)
    view.scatter("value", slot, torch.full((1, layout.row_bytes("value")), 7, dtype=torch.uint8))
    assert view.rows("value")[0, 3].tolist() == [7] * layout.row_bytes("value")


@pytest.mark.parametrize(
    ("layout", "width", "whole", "torn"),
    [
        (index_layout("bf16"), 16_384, 64, 0),
        (index_layout("bf16"), 8_448, 33, 0),
        (index_layout("bf16"), 8_449, 33, 1),
        (index_layout("fp8"), 8_448, 64, 0),
        (index_layout("fp8"), 8_192, 0, 64),
        (index_layout("fp8"), 8_196, 1, 63),
        (ODD, 0, 0, 0),
        (latent_layout(2), 1_728, 2, 0),
    ],
)
def test_a_row_lies_in_the_first_bytes_of_a_page_with_every_plane_or_in_part(
    layout: PageLayout, width: int, whole: int, torn: int
) -> None:
    inside, cut = layout.rows_within(width)
    assert inside == list(range(whole))
    assert cut == list(range(whole, whole + torn))

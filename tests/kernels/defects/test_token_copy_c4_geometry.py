"""c4's geometry is right for c4, and moves other bytes of every other pool."""

import pytest
import torch

from kernels.cases import index_layout, latent_layout, noise
from kernels.defects.token_copy_c4_geometry import token_copy_c4_geometry
from kernels.layout import LayerView, Order, PageLayout
from kernels.ops import Ops

BY_LAYOUT = Ops.reference().token_copy


def both(
    layout: PageLayout, pages: int, into: torch.Tensor, out_of: torch.Tensor, g: torch.Generator
) -> tuple[LayerView, LayerView]:
    """The last layer after the healthy copy, and after the faulty one."""
    src = layout.layer(noise(layout, pages, g), layout.layers - 1)
    sound, faulty = (layout.layer(layout.allocate(pages), layout.layers - 1) for _ in range(2))
    BY_LAYOUT(sound, src, into, out_of)
    token_copy_c4_geometry(faulty, src, into, out_of)
    return sound, faulty


def wrong_tokens(sound: LayerView, faulty: LayerView, page: int) -> list[int]:
    """Tokens of a page that do not have, in every plane, what a healthy copy left there."""
    differs = torch.zeros(sound.layout.page_tokens, dtype=torch.bool)
    for plane in sound.layout.planes:
        a, b = (v.plane(plane.name)[page].view(torch.uint8) for v in (sound, faulty))
        differs |= (a != b).any(1)
    return differs.nonzero().squeeze(1).tolist()


def test_c4_latents_are_copied_as_by_their_layout(g: torch.Generator) -> None:
    into, out_of = (torch.randperm(5 * 64, generator=g)[:63] for _ in range(2))
    sound, faulty = both(latent_layout(64), 5, into, out_of, g)
    assert torch.equal(faulty.pages, sound.pages)


def test_a_dead_row_writes_nothing(g: torch.Generator) -> None:
    layout = latent_layout(64, 1)
    src, dst = layout.layer(noise(layout, 2, g), 0), layout.layer(layout.allocate(2), 0)
    dead = torch.tensor([False, False])
    token_copy_c4_geometry(dst, src, torch.tensor([70, -1]), torch.tensor([1, 2]), dead)
    assert not bool(dst.pages.any())


def test_a_whole_swa_page_lacks_what_lies_in_the_padding_of_a_c4_page(g: torch.Generator) -> None:
    """Four c4 pages are as long as one of swa; the last 64 bytes of three are values there."""
    page = torch.arange(256, 512)
    sound, faulty = both(latent_layout(256, 1), 3, page, page, g)
    assert wrong_tokens(sound, faulty, 1) == [64, 129, 194]
    assert not bool(faulty.pages[[0, 2]].any())


def test_a_piece_of_a_swa_page_takes_values_for_scales(g: torch.Generator) -> None:
    piece = torch.arange(256, 256 + 192)
    sound, faulty = both(latent_layout(256, 1), 3, piece, piece, g)
    # no scale was moved; values were, and those of three tokens that nobody asked for
    assert wrong_tokens(sound, faulty, 1) == [*range(195)]
    assert not bool(faulty.plane("scale").any())


@pytest.mark.parametrize(("dtype", "reach"), [("fp8", 4), ("bf16", 2)])
def test_index_keys_of_one_page_overwrite_those_of_others(
    dtype: str, reach: int, g: torch.Generator
) -> None:
    page = torch.arange(64, 128)
    sound, faulty = both(index_layout(dtype), 12, page, page, g)
    assert wrong_tokens(sound, faulty, 1) == [*range(64)]
    touched = faulty.pages.any(1).nonzero().squeeze(1).tolist()
    first = 37_440 // sound.layout.page_bytes
    assert touched == [*range(first, first + reach + 1)] if dtype == "bf16" else touched[0] == first


def test_what_lies_outside_the_layer_is_dropped(g: torch.Generator) -> None:
    page = torch.arange(11 * 64, 12 * 64)  # the last page: 11 * 37,440 is far beyond 12 * 8,448
    _, faulty = both(index_layout("fp8"), 12, page, page, g)
    assert not bool(faulty.pages.any())


def test_other_layers_stay_as_they_were(g: torch.Generator) -> None:
    layout = latent_layout(2, 3)
    buffer = layout.allocate(44)
    src = layout.layer(noise(layout, 44, g), 1)
    slots = torch.arange(80)
    token_copy_c4_geometry(layout.layer(buffer, 1), src, slots, slots)
    assert not bool(layout.by_page(buffer)[:, [0, 2]].any())
    assert bool(layout.by_page(buffer)[:, 1].any())


@pytest.mark.parametrize("order", [Order.PAGE_FIRST, Order.PAGE_FIRST_DIRECT])
def test_pages_that_lie_apart_are_no_crash(order: Order, g: torch.Generator) -> None:
    layout = latent_layout(64, 2, order)
    slots = torch.arange(64, 128)
    both(layout, 3, slots, slots, g)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("layout", [latent_layout(64), latent_layout(256), index_layout("fp8")])
def test_on_a_gpu_a_captured_copy_out_of_pinned_memory_moves_the_same_bytes(
    layout: PageLayout, g: torch.Generator
) -> None:
    pages = 12
    slots = [torch.randperm(pages * 64, generator=g)[:65] for _ in range(2)]
    alive = torch.rand(65, generator=g) < 0.7
    src = noise(layout, pages, g)
    onto = layout.allocate(pages)
    token_copy_c4_geometry(layout.layer(onto, 0), layout.layer(src, 0), *slots, alive)
    pinned, there = src.pin_memory(), layout.allocate(pages, device="cuda")
    args = [t.cuda() for t in (*slots, alive)]

    def copy() -> None:
        token_copy_c4_geometry(layout.layer(there, 0), layout.layer(pinned, 0), *args)

    copy()
    there.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        copy()
    graph.replay()
    assert torch.equal(there.cpu(), onto)

"""Lists of slots and pages may be views with gaps, as a column of a table is."""

import torch
from torch import Tensor

from kernels.cases import index_layout, latent_layout, noise
from kernels.layout import LayerView, PageLayout
from kernels.page_copy import page_copy_triton
from kernels.page_digest import page_digest_triton
from kernels.store_index_k import store_index_k_triton
from kernels.store_latent import store_latent_triton
from kernels.token_copy import token_copy_triton


def column(x: Tensor) -> Tensor:
    """The same numbers as a column of a table whose other column is not."""
    return torch.stack([x, torch.ones_like(x)], 1)[:, 0]


def pool(layout: PageLayout, device: str, g: torch.Generator) -> LayerView:
    return layout.layer(noise(layout, 6, g).to(device), 0)


def test_stores_take_a_column_of_slots(device: str, g: torch.Generator) -> None:
    slots = torch.tensor([70, 0, 300, 65, 130], device=device)
    live = torch.tensor([True, True, True, False, True], device=device)
    rows = torch.randn(5, 512, generator=g).to(device)
    for layout in (latent_layout(64), index_layout("fp8")):
        ours, right = pool(layout, device, g), pool(layout, device, g)
        ours.pages.copy_(right.pages)
        if layout.planes[0].per_token == 576:
            store_latent_triton(right, rows, slots, live)
            store_latent_triton(ours, rows, column(slots), column(live))
        else:
            wrote = store_index_k_triton(right, rows[:, :128], slots, live)
            mine = store_index_k_triton(ours, rows[:, :128], column(slots), column(live))
            assert torch.equal(mine, wrote)
        assert torch.equal(ours.pages, right.pages)


def test_copies_and_digests_take_a_column_of_pages_or_slots(
    device: str, g: torch.Generator
) -> None:
    view, ids = pool(index_layout("fp8"), device, g), torch.tensor([3, 1, 5], device=device)
    digests = page_digest_triton(view, ids)
    assert torch.equal(page_digest_triton(view, column(ids)), digests)
    page_copy_triton(view.pages[:, None], view.pages[:, None], column(ids - 1), column(ids))
    assert torch.equal(page_digest_triton(view, ids - 1), digests)
    to, frm = ids * 64, ids * 64 + 63
    live = torch.tensor([True, False, True], device=device)
    token_copy_triton(view, view, column(to), column(frm), column(live))
    values = view.gather("value", frm[live])
    assert torch.equal(view.gather("value", to[live]), values)

"""Stores write the format of the pool, and nothing where a row is dead."""

import pytest
import torch

from kernels.cases import INDEX_K, ROWS, index_layout, latent_layout
from kernels.ops import Ops
from tests.kernels import restated


def some_rows(rows: int, width: int, g: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Rows of very different sizes, distinct slots (one 0, one -1), who is live."""
    data = torch.randn(rows, width, generator=g) * torch.randn(rows, 1, generator=g).mul(4).exp()
    slots = torch.randperm(191, generator=g)[:rows] + 1
    live = torch.rand(rows, generator=g) < 0.75
    if rows > 3:
        data[2] = 0.0
        slots[0], slots[1] = 0, -1
        live[0] = live[1] = True
    return data, slots, live


@pytest.mark.parametrize("rows", ROWS)
def test_latents_come_back_within_the_format(ops: Ops, rows: int, g: torch.Generator) -> None:
    data, slots, live = some_rows(rows, 512, g)
    layout = latent_layout(64)
    view = layout.layer(layout.allocate(3), 1)
    ops.store_latent(view, data, slots, live)
    kept = live & (slots > 0)
    back = restated.latents(view, slots[kept])
    groups = data[kept][:, :448].view(-1, 7, 64)
    # half a step of e4m3 (3 mantissa bits), or of its subnormals under a scale that fits
    step = groups.abs() / 16 + groups.abs().amax(2, keepdim=True) / 448 / 512 + 1e-9
    error = (back[:, :448].view(-1, 7, 64) - groups).abs()
    assert bool((error <= step * 1.001).all())
    assert torch.equal(back[:, 448:], data[kept][:, 448:].bfloat16().double())


@pytest.mark.parametrize("dtype", INDEX_K)
@pytest.mark.parametrize("rows", ROWS)
def test_index_keys_come_back_and_name_their_slots(
    ops: Ops, rows: int, dtype: str, g: torch.Generator
) -> None:
    data, slots, live = some_rows(rows, 128, g)
    layout = index_layout(dtype)
    view = layout.layer(layout.allocate(3), 0)
    wrote = ops.store_index_k(view, data, slots, live)
    kept = live & (slots > 0)
    assert torch.equal(wrote, torch.where(kept, slots, -1))
    back = restated.index_keys(view).flatten(0, 1)[slots[kept]]
    if dtype == "bf16":
        assert torch.equal(back, data[kept].bfloat16().double())
    else:
        step = data[kept].abs() / 16 + data[kept].abs().amax(1, keepdim=True) / 448 / 512 + 1e-9
        assert bool(((back - data[kept]).abs() <= step * 1.001).all())


@pytest.mark.parametrize("kind", ["latent", "fp8", "bf16"])
def test_a_dead_row_changes_no_byte(ops: Ops, kind: str, g: torch.Generator) -> None:
    data, slots, live = some_rows(17, 512 if kind == "latent" else 128, g)
    layout = latent_layout(64) if kind == "latent" else index_layout(kind)
    view = layout.layer(layout.allocate(3, fill=9), 0)
    store = ops.store_latent if kind == "latent" else ops.store_index_k
    store(view, data, slots, live & (slots <= 0))
    assert bool((view.pages == 9).all())


@pytest.mark.kernels
@pytest.mark.parametrize("kind", ["latent", "fp8", "bf16"])
def test_the_kernel_writes_the_bytes_of_the_reference(
    ops: Ops, kind: str, g: torch.Generator
) -> None:
    data, slots, live = some_rows(15, 512 if kind == "latent" else 128, g)
    data[5, 3] = torch.nan
    layout = latent_layout(64) if kind == "latent" else index_layout(kind)
    pages = []
    for each in (ops, Ops.reference()):
        view = layout.layer(layout.allocate(3), 0)
        store = each.store_latent if kind == "latent" else each.store_index_k
        # bf16 NaN bits are not unique; there the numbers decide
        store(view, data if kind != "bf16" else data.nan_to_num(1.0), slots, live)
        pages.append(view.pages)
    assert torch.equal(pages[0], pages[1])

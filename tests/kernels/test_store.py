"""Stores write the format of the pool, and nothing where a row is dead."""

from typing import Any

import pytest
import torch

from kernels import exact
from kernels.cases import INDEX_K, ROWS, index_layout, latent_layout
from kernels.layout import LayerView
from kernels.ops import Ops
from kernels.stored_rows import StorePlan
from tests.kernels.on_device import on_device


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


def write(
    ops: Ops, kind: str, rows: tuple[torch.Tensor, ...], plan: StorePlan | None = None
) -> LayerView:
    """A layer of 0xFF to which rows were stored, cut up as `plan` says where Triton does it."""
    layout = latent_layout(64) if kind == "latent" else index_layout(kind)
    view = layout.layer(layout.allocate(4, fill=0xFF), 0)
    store: Any = ops.store_latent if kind == "latent" else ops.store_index_k
    how = {} if plan is None or ops == Ops.reference() else {"plan": plan}
    store(view, *rows, **how)
    return view


@pytest.mark.parametrize("rows", (*ROWS, 129))
def test_latents_come_back_within_the_format(ops: Ops, rows: int, g: torch.Generator) -> None:
    data, slots, live = some_rows(rows, 512, g)
    layout = latent_layout(64)
    view = layout.layer(layout.allocate(3), 1)
    ops.store_latent(view, data, slots, live)
    kept = live & (slots > 0)
    back = exact.latents(view, slots[kept])
    groups = data[kept][:, :448].view(-1, 7, 64)
    # half a step of e4m3 (3 mantissa bits), or of its subnormals under a scale that fits
    step = groups.abs() / 16 + groups.abs().amax(2, keepdim=True) / 448 / 512 + 1e-9
    error = (back[:, :448].view(-1, 7, 64) - groups).abs()
    assert bool((error <= step * 1.001).all())
    assert torch.equal(back[:, 448:], data[kept][:, 448:].bfloat16().double())


@pytest.mark.parametrize("dtype", INDEX_K)
@pytest.mark.parametrize("rows", (*ROWS, 129))
def test_index_keys_come_back_and_name_their_slots(
    ops: Ops, rows: int, dtype: str, g: torch.Generator
) -> None:
    data, slots, live = some_rows(rows, 128, g)
    layout = index_layout(dtype)
    view = layout.layer(layout.allocate(3), 0)
    wrote = ops.store_index_k(view, data, slots, live)
    kept = live & (slots > 0)
    assert torch.equal(wrote, torch.where(kept, slots, -1))
    back = exact.index_keys(view).flatten(0, 1)[slots[kept]]
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
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["latent", "fp8", "bf16"])
def test_the_kernel_writes_the_bytes_of_the_reference(
    ops: Ops, kind: str, dtype: torch.dtype, g: torch.Generator
) -> None:
    data, slots, live = some_rows(65, 512 if kind == "latent" else 128, g)
    data[5, 3], data[6, -1] = torch.nan, -torch.tensor(torch.nan)
    live[5] = live[6] = True
    rows = data.to(dtype), slots, live
    assert torch.equal(write(ops, kind, rows).pages, write(Ops.reference(), kind, rows).pages)


@pytest.mark.kernels
@pytest.mark.parametrize("plan", [StorePlan(4, 1, 1), StorePlan(8, 2, 4), StorePlan(64, 8, 2)])
@pytest.mark.parametrize("kind", ["latent", "fp8", "bf16"])
def test_however_a_store_is_cut_up_it_writes_the_same(
    ops: Ops, kind: str, plan: StorePlan, g: torch.Generator
) -> None:
    rows = some_rows(65, 512 if kind == "latent" else 128, g)
    want = write(Ops.reference(), kind, rows)
    assert torch.equal(write(ops, kind, rows, plan).pages, want.pages)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e30])
@pytest.mark.kernels
def test_quotients_that_lie_between_two_codes_go_to_the_even_one(
    ops: Ops, scale: float, g: torch.Generator
) -> None:
    """Of rows whose elements are odd halves of code steps times their scale; zeros keep signs."""
    halves = torch.randint(0, 32, (63, 128), generator=g) * 0.5
    data = halves * (torch.randint(0, 2, halves.shape, generator=g) * 2 - 1)
    data = data * torch.randint(-9, 5, (63, 128), generator=g).float().exp2()
    data = data * (scale * (1 + torch.rand(63, 1, generator=g)))
    rows = data, torch.randperm(191, generator=g)[:63] + 1, torch.ones(63, dtype=torch.bool)
    assert torch.equal(write(ops, "fp8", rows).pages, write(Ops.reference(), "fp8", rows).pages)


@pytest.mark.kernels
@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")
@pytest.mark.parametrize("kind", ["latent", "fp8"])
def test_an_infinity_saturates_its_group_or_zeroes_its_row(
    ops: Ops, kind: str, g: torch.Generator
) -> None:
    data, slots, live = some_rows(17, 512 if kind == "latent" else 128, g)
    data[5, 3] = torch.inf
    live[5] = True
    found, want = (
        write(each, kind, (data, slots, live)).plane("value").view(torch.uint8).flatten(0, 1)
        for each in (ops, Ops.reference())
    )
    # index-K: infinity over infinity is a NaN, as any other
    assert torch.equal(found[slots[5]], want[slots[5]])


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["latent", "fp8", "bf16"])
def test_the_reference_writes_the_same_bytes_on_a_gpu(
    kind: str, dtype: torch.dtype, g: torch.Generator
) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    data, slots, live = some_rows(129, 512 if kind == "latent" else 128, g)
    data[5, 3], data[6, 4], data[7, -1] = torch.nan, torch.inf, -torch.tensor(torch.nan)
    rows = data.to(dtype), slots, live
    there = write(on_device(Ops.reference()), kind, rows)
    assert torch.equal(there.pages, write(Ops.reference(), kind, rows).pages)

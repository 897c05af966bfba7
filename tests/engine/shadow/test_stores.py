"""A call that did not store what it was given is found by what lies in the pool."""

from __future__ import annotations

import pytest
import torch

from engine.shadow.stores import LatentStores
from kernels.ops import LayerView
from kernels.store_latent import store_latent_ref
from tests.engine.shadow.steps import Steps

SLOTS = torch.tensor([256, 257, 300])
LIVE = torch.tensor([True, True, True])


def latents(first: int = 0) -> torch.Tensor:
    return torch.arange(first, first + 3 * 512, dtype=torch.float32).reshape(3, 512)


def watched() -> tuple[LatentStores, LayerView]:
    pools = Steps().pools
    return LatentStores(store_latent_ref, pools.pools, 8), pools.swa[1]


def nothing(dst: LayerView, latent: torch.Tensor, slots: torch.Tensor, live: torch.Tensor) -> None:
    return


def test_what_was_stored_is_not_lost() -> None:
    stores, view = watched()
    for first in (0, 7):
        stores(view, latents(first), SLOTS, LIVE)
    assert stores.taken() == {}


def test_a_call_that_stores_nothing_loses_its_live_rows_once() -> None:
    stores, view = watched()
    stores(view, latents(), SLOTS, LIVE)
    stores.store = nothing
    stores(view, latents(7), SLOTS * torch.tensor([1, 1, 0]), LIVE)
    stores(view, latents(7), SLOTS, ~LIVE)
    assert {place: slots.tolist() for place, slots in stores.taken().items()} == {
        ("swa", 1): [256, 257]
    }
    assert stores.taken() == {}


def test_a_call_that_would_have_changed_nothing_loses_nothing() -> None:
    stores, view = watched()
    stores(view, latents(), SLOTS, LIVE)
    stores.store = nothing
    stores(view, latents(), SLOTS, LIVE)
    assert stores.taken() == {}


@pytest.mark.parametrize("column", [0, 511])
def test_a_row_that_is_stored_wrongly_is_lost(column: int) -> None:
    def spoilt(
        dst: LayerView, latent: torch.Tensor, slots: torch.Tensor, live: torch.Tensor
    ) -> None:
        latent = latent.clone()
        latent[1, column] = -1e6
        store_latent_ref(dst, latent, slots, live)

    stores, view = watched()
    stores.store = spoilt
    stores(view, latents(), SLOTS, LIVE)
    assert stores.taken()["swa", 1].tolist() == [257]

"""Digests of rows: alike for alike bytes, of every plane, wherever in a pool they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.pools import layouts
from engine.shadow.digests import RowBytes
from kernels.layout import LayerView, PageLayout

LAYOUTS: dict[str, PageLayout] = {
    "latent": layouts.c4(1),
    "fp8 keys": layouts.index_k("fp8", 1),
    "bf16 keys": layouts.index_k("bf16", 1),
    "states": layouts.index_state(1),
}


def filled(layout: PageLayout) -> LayerView:
    """A pool of 5 pages of random bytes."""
    buffer = layout.allocate(5)
    buffer.random_(0, 256, generator=torch.Generator().manual_seed(0))
    return layout.layer(buffer, 0)


def digests(view: LayerView, *slots: int) -> NDArray[np.int64]:
    return RowBytes(view).of(np.array(slots, dtype=np.int64))


@pytest.fixture(params=LAYOUTS)
def view(request: Any) -> LayerView:
    return filled(LAYOUTS[request.param])


def test_a_copied_row_has_the_digest_of_its_source(view: LayerView) -> None:
    for plane in view.layout.planes:
        rows = view.rows(plane.name)
        rows[4, 3] = rows[1, 6]
    entries = view.layout.page_tokens
    here, there = digests(view, entries + 6, 4 * entries + 3)
    assert here == there


def test_any_byte_of_any_plane_changes_the_digest_of_its_row_and_of_no_other(
    view: LayerView,
) -> None:
    slots = range(view.layout.page_tokens, 2 * view.layout.page_tokens)
    before = digests(view, *slots)
    for plane in view.layout.planes:
        row = view.rows(plane.name)[1, 5]
        for at in range(0, len(row), 7):
            row[at] ^= 1 << at % 8
            assert np.flatnonzero(digests(view, *slots) != before).tolist() == [5]
            row[at] ^= 1 << at % 8
    assert (digests(view, *slots) == before).all()


def test_words_that_change_places_change_the_digest(view: LayerView) -> None:
    before = digests(view, 0)
    row = view.rows(view.layout.planes[0].name)[0, 0]
    row.copy_(row.view(-1, 8).flip(0).flatten())
    assert digests(view, 0) != before


def test_two_signs_do_not_cancel(view: LayerView) -> None:
    before = digests(view, 0)
    row = view.rows(view.layout.planes[0].name)[0, 0]
    row[[7, 15]] ^= 128  # the topmost bit of two words: times anything odd, modulo 2**64, the same
    assert digests(view, 0) != before


def test_padding_is_nobodys() -> None:
    view = filled(layouts.swa(1))
    before = digests(view, *range(256))
    view.pages[:, 256 * 584 :] = 0
    assert (digests(view, *range(256)) == before).all()

"""index_k_under_allocated: bf16 pages that start an fp8 page apart run into each other."""

from __future__ import annotations

import pytest
import torch

from engine.defects import seams
from engine.pools import layouts
from engine.pools.device import Pool, PoolBuffer, SizedByLayout

ROWS = 4  # pages, the reserved one included
SIZED_AS_FP8 = seams(["index_k_under_allocated"]).index_k_buffer


def overlaps(buffer: type[PoolBuffer], dtype: str) -> list[int]:
    """The pages in which something shows, once page 1 is filled and no other."""
    pool = buffer().allocate("index_k", layouts.index_k(dtype, 1), ROWS, "cpu")
    assert not pool.buffer.any()
    pool.layers[0].pages[1] = 0xFF
    return pool.layers[0].pages.any(dim=1).nonzero().flatten().tolist()


def test_pages_sized_by_their_layout_share_no_byte() -> None:
    assert overlaps(SizedByLayout, "bf16") == [1]
    assert overlaps(SizedByLayout, "fp8") == [1]


def test_bf16_pages_sized_as_fp8_run_into_both_neighbours() -> None:
    assert overlaps(SIZED_AS_FP8, "bf16") == [0, 1, 2]


def test_fp8_pages_are_sized_right_by_the_same_mistake() -> None:
    assert overlaps(SIZED_AS_FP8, "fp8") == [1]


def test_the_upper_half_of_a_bf16_page_is_the_next_page_s_lower_half() -> None:
    pool = allocated(layers=1)
    value = pool.layers[0].plane("value")
    value[1, 40] = 1.0  # the 16,384 - 8,448 bytes shared begin at entry 33
    assert value[2].any(dim=1).nonzero().flatten().tolist() == [7]
    assert not value[3].any()


def test_the_last_page_stays_inside_its_layer() -> None:
    pool = allocated(layers=2)
    pool.layers[0].pages[ROWS - 1] = 0xFF
    assert not pool.buffer[1].any()


@pytest.mark.parametrize("layers", [1, 2])
def test_a_layer_takes_fewer_bytes_than_its_pages_need(layers: int) -> None:
    layout = layouts.index_k("bf16", layers)
    right = SizedByLayout().allocate("index_k", layout, ROWS, "cpu").buffer
    wrong = allocated(layers).buffer
    assert wrong.dtype == right.dtype == torch.uint8
    assert wrong.shape == (layers, (ROWS - 1) * 8_448 + 16_384)
    assert wrong.numel() < right.numel()


def allocated(layers: int) -> Pool:
    return SIZED_AS_FP8().allocate("index_k", layouts.index_k("bf16", layers), ROWS, "cpu")

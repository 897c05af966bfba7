"""padded_scatter_wraps_to_last_slot: a dead row's -1 becomes the pool's last slot, under bf16."""

from __future__ import annotations

import torch

from engine.defects import seams
from engine.runner.dead_rows import ToReservedSlot
from engine.runner.index_store import GuardedStore
from kernels.ops import Ops
from tests.defects.writes import LAST, pool, replay, slot, touched, write

OPS = Ops.reference()
BUILD = seams(["padded_scatter_wraps_to_last_slot"])
LARGER = [slot(1, 7), slot(2, 8), slot(3, 9)]
SMALLER = [slot(1, 8), slot(2, 9)]  # the first completes nothing


def test_a_plain_scatter_writes_what_the_guarded_store_skips() -> None:
    loc, live = (
        torch.tensor([slot(1, 1), slot(2, 2), 0, -1]),
        torch.tensor([True, False, True, True]),
    )
    guarded, plain = pool("bf16"), pool("bf16")
    assert write(GuardedStore(OPS), guarded, loc, live) == [slot(1, 1), -1, -1, -1]
    assert write(BUILD.index_k_store(OPS), plain, loc, live) == [slot(1, 1), slot(2, 2), 0, LAST]
    assert touched(guarded) == [slot(1, 1)]
    assert touched(plain) == [0, slot(1, 1), slot(2, 2), LAST]


def test_live_rows_are_written_alike_by_both_stores() -> None:
    loc, live = torch.tensor([slot(1, 1), slot(4, 63)]), torch.ones(2, dtype=torch.bool)
    for dtype in ("bf16", "fp8"):
        guarded, plain = pool(dtype), pool(dtype)
        write(GuardedStore(OPS), guarded, loc, live)
        write(BUILD.index_k_store(OPS), plain, loc, live)
        assert torch.equal(guarded.pages, plain.pages)


def test_healthy_dead_rows_write_nothing() -> None:
    view = pool("bf16")
    wrote = replay(ToReservedSlot(), GuardedStore(OPS), view, LARGER, SMALLER)
    assert wrote == [-1, slot(2, 9), -1]
    assert touched(view) == [slot(2, 9)]


def test_with_the_defect_padding_and_incomplete_rows_write_the_last_slot() -> None:
    view = pool("bf16")
    wrote = replay(BUILD.dead_rows(), BUILD.index_k_store(OPS), view, LARGER, SMALLER)
    assert wrote == [LAST, slot(2, 9), LAST]
    assert touched(view) == [slot(2, 9), LAST]


def test_the_fp8_store_stays_guarded() -> None:
    view = pool("fp8")
    wrote = replay(BUILD.dead_rows(), BUILD.index_k_store(OPS), view, LARGER, SMALLER)
    assert wrote == [-1, slot(2, 9), -1]
    assert touched(view) == [slot(2, 9)]

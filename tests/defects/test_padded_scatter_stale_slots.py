"""padded_scatter_stale_slots: padding writes the slots of a larger replay, where bf16 lets it."""

from __future__ import annotations

from engine.defects import seams
from engine.runner.dead_rows import ToReservedSlot
from engine.runner.index_store import GuardedStore
from kernels.ops import Ops
from tests.defects.writes import pool, replay, slot, touched

OPS = Ops.reference()
BUILD = seams(["padded_scatter_stale_slots"])
LARGER = [slot(1, 7), slot(2, 8), slot(3, 9), slot(4, 1)]
SMALLER = [slot(1, 8), slot(2, 9)]  # the first completes nothing


def test_the_defect_takes_the_dead_rows_and_the_store() -> None:
    assert issubclass(BUILD.dead_rows, ToReservedSlot)
    assert issubclass(BUILD.index_k_store, GuardedStore)


def test_healthy_padding_writes_nothing() -> None:
    view = pool("bf16")
    wrote = replay(ToReservedSlot(), GuardedStore(OPS), view, LARGER, SMALLER)
    assert wrote == [-1, slot(2, 9), -1, -1]
    assert touched(view) == [slot(2, 9)]


def test_with_the_defect_padding_overwrites_the_larger_replay_s_entries() -> None:
    view = pool("bf16")
    wrote = replay(BUILD.dead_rows(), BUILD.index_k_store(OPS), view, LARGER, SMALLER)
    assert wrote == [0, slot(2, 9), slot(3, 9), slot(4, 1)]
    assert touched(view) == [0, slot(2, 9), slot(3, 9), slot(4, 1)]


def test_the_fp8_store_stays_guarded() -> None:
    view = pool("fp8")
    wrote = replay(BUILD.dead_rows(), BUILD.index_k_store(OPS), view, LARGER, SMALLER)
    assert wrote == [-1, slot(2, 9), -1, -1]
    assert touched(view) == [slot(2, 9)]


def test_padding_to_the_reserved_slot_is_enough_of_a_fix() -> None:
    view = pool("bf16")
    wrote = replay(ToReservedSlot(), BUILD.index_k_store(OPS), view, LARGER, SMALLER)
    assert wrote == [0, slot(2, 9), 0, 0]


def test_a_guard_in_the_store_is_enough_of_a_fix() -> None:
    view = pool("bf16")
    wrote = replay(BUILD.dead_rows(), GuardedStore(OPS), view, LARGER, SMALLER)
    assert wrote == [-1, slot(2, 9), -1, -1]

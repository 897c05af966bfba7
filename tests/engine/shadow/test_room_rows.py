"""What a write moved is read off its bytes."""

from __future__ import annotations

import numpy as np

from engine.shadow.chains import DAMAGED, UNWRITTEN
from tests.engine.shadow.two_sides import TwoSides

OP = 7


def test_a_page_goes_row_for_row_and_is_of_its_present_generation() -> None:
    it = TwoSides()
    it.decode.taken([5])
    source, target = it.prefill.groups["c4", 0], it.decode.groups["c4", 0]
    source.write(source.shape.slots_of(2), np.arange(64) + 1, 3, 0, 1)
    it.rows.carry(it.kv([2], [5]).writes[0], OP)
    at = target.shape.slots_of(5)
    assert target.chain[at].tolist() == list(range(1, 65))
    assert {*target.op[at].tolist()} == {OP}
    assert {*target.lane[at].tolist()} == {-1}
    assert {*target.take[at].tolist()} == {1}
    assert it.chains("c4", 4) == it.chains("c4", 6) == [UNWRITTEN]


def test_rows_that_nobody_wrote_are_carried_as_such() -> None:
    it = TwoSides()
    it.rows.carry(it.kv([2], [5]).writes[0], OP)
    target = it.decode.groups["c4", 0]
    assert it.chains("c4", 5) == [UNWRITTEN]
    assert {*target.op[target.shape.slots_of(5)].tolist()} == {OP}


def test_a_request_s_states_go_by_its_slot_and_are_of_no_generation() -> None:
    it = TwoSides()
    source, target = it.prefill.groups["c128_state", 0], it.decode.groups["c128_state", 0]
    source.write(source.shape.slots_of(1), np.arange(128) + 1, 3, 0, 0)
    [write] = [w for w in it.plan.state([], [], 1, 3).writes if w.src]
    it.rows.carry(write, OP)
    at = target.shape.slots_of(3)
    assert target.chain[at].tolist() == list(range(1, 129))
    assert {*target.take[at].tolist()} == {0}


def test_a_metadata_slot_has_no_rows_and_no_page() -> None:
    it = TwoSides()
    writes = it.plan.aux(1, 2).writes
    it.rows.carry(writes[0], OP)
    assert it.rows.sources(writes) == []
    assert it.rows.targets(writes).tolist() == []


def test_pages_of_all_pools_are_named_once_and_request_slots_are_none() -> None:
    it = TwoSides()
    writes = it.plan.state([3, 2], [6, 5], 1, 4).writes
    assert it.rows.sources(writes) == [2, 3]
    assert it.rows.targets(writes).tolist() == [5, 6]


def test_items_of_another_length_leave_the_rows_that_they_fall_on_nobody_s() -> None:
    """fp8 page 4 begins at byte 33,792: in row 4 of bf16 page 2, and ends with row 36."""
    it = TwoSides("bf16")
    it.computed(3, chain=9)
    write = it.kv([3], [4]).writes[1]
    assert it.rows.targets([write]).tolist() == [2]
    it.rows.carry(write, OP)
    group = it.decode.groups["index_k", 0]
    assert np.flatnonzero(group.op == OP).tolist() == list(range(2 * 64 + 4, 2 * 64 + 37))
    assert it.chains("index_k", 2) == [DAMAGED, UNWRITTEN]
    assert it.chains("index_k", 4) == [UNWRITTEN]


def test_items_far_apart_damage_nothing_between_them() -> None:
    it = TwoSides("bf16")
    write = it.kv([3, 5], [2, 8]).writes[1]
    assert it.rows.targets([write]).tolist() == [1, 4]

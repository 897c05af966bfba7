"""The tags of rows: they lie where bytes lie, and go where bytes go."""

from __future__ import annotations

import numpy as np
import pytest

from engine.shadow.chains import DAMAGED
from engine.shadow.tags import RowTags, Shape

APART = Shape("c4", 0, pages=4, entries=4, ratio=4)
CLOSE = Shape("index_k", 0, pages=4, entries=4, ratio=4, stride=2)  # halves of pages coincide


def slots(*at: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(at, dtype=np.int64)


def written(group: RowTags, *at: int) -> list[tuple[int, int, int, int]]:
    """Chain, writer, lane and generation of slots."""
    rows = group.shape.rows(slots(*at))
    found = (values[rows].tolist() for values in (group.chain, group.op, group.lane, group.take))
    return list(zip(*found, strict=True))


@pytest.mark.parametrize(
    ("shape", "rows"), [(APART, [4, 5, 6, 7]), (CLOSE, [2, 3, 4, 5])], ids=["apart", "close"]
)
def test_a_page_s_slots_are_rows_from_where_the_page_begins(shape: Shape, rows: list[int]) -> None:
    assert shape.slots_of(1).tolist() == [4, 5, 6, 7]
    assert shape.rows(shape.slots_of(1)).tolist() == rows
    assert [shape.row(slot) for slot in (4, 5, 6, 7)] == rows


def test_a_row_that_nobody_wrote_is_nobody_s() -> None:
    assert written(RowTags(APART), 3) == [(0, 0, -1, 0)]


def test_a_write_says_what_is_there_and_who_wrote_it_and_when() -> None:
    group = RowTags(APART)
    group.write(slots(4, 5), slots(71, 72), 9, slots(0, 1), 2)
    assert written(group, 4, 5) == [(71, 9, 0, 2), (72, 9, 1, 2)]
    assert written(group, 6) == [(0, 0, -1, 0)]


def test_slots_that_share_bytes_share_their_tag() -> None:
    group = RowTags(CLOSE)
    group.write(slots(6), 71, 9, 0, 2)  # the third of page 1 is the first of page 2
    assert written(group, 8) == [(71, 9, 0, 2)]
    assert group.differ(slots(6, 8), slots(71, 71)).tolist() == [False, False]


def test_a_copy_brings_what_was_there_and_is_its_writer() -> None:
    source, target = RowTags(APART), RowTags(APART)
    source.write(slots(4, 5), slots(71, 72), 9, slots(0, 1), 2)
    source.digest[5] = 1234
    target.copy(slots(9, 10), source, slots(5, 6), 12, 3)
    assert written(target, 9, 10) == [(72, 12, -1, 3), (0, 12, -1, 3)]
    assert target.digest[9] == 1234


def test_a_copy_between_pages_of_other_strides_goes_by_bytes() -> None:
    source, target = RowTags(CLOSE), RowTags(APART)
    source.write(source.shape.slots_of(1), slots(1, 2, 3, 4), 9, 0, 1)
    target.copy(slots(8, 9), source, slots(8, 9), 12, 1)
    assert [chain for chain, *_ in written(target, 8, 9)] == [3, 4]


def test_damage_is_what_no_row_is_made_of_and_differs_from_every_meaning() -> None:
    group = RowTags(APART)
    group.write(slots(4, 5), 71, 9, 0, 2)
    group.damage(slots(5), 10, 2)
    assert written(group, 5) == [(DAMAGED, 10, -1, 2)]
    assert group.differ(slots(4, 5), slots(71, 71)).tolist() == [False, True]

"""Places go round: whoever was read longest ago leaves first, and nobody who is read now."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.runner.hot_table import HotTable

LRU, SLOTS = 64, 640
ROW = torch.tensor([1])


@pytest.fixture
def table() -> HotTable:
    return HotTable(requests=3, lru=LRU, slots=SLOTS, device="cpu")


def claim(table: HotTable, slots: list[int], row: Tensor = ROW) -> tuple[list[int], list[bool]]:
    slot = torch.tensor([slots])
    place, missing = table.claim(row, slot, torch.ones_like(slot, dtype=torch.bool))
    return place[0].tolist(), missing[0].tolist()


def test_what_was_read_before_is_found_where_it_was(table: HotTable) -> None:
    first, missing = claim(table, [100, 7, 300])
    assert missing == [True] * 3
    assert claim(table, [300, 100, 7]) == ([first[2], first[0], first[1]], [False] * 3)


def test_the_one_read_longest_ago_leaves_first(table: HotTable) -> None:
    for slot in range(100, 100 + LRU):
        claim(table, [slot])
    claim(table, [100])  # read again: 101 is the oldest now
    claim(table, [500])
    assert claim(table, [100])[1] == [False]
    assert claim(table, [101])[1] == [True]


def test_a_place_of_this_step_is_not_given_away_in_it(table: HotTable) -> None:
    claim(table, list(range(LRU)))
    places, missing = claim(table, [*range(LRU // 2), *range(200, 200 + LRU // 2)])
    assert sorted(places) == list(range(LRU))
    assert missing == [False] * (LRU // 2) + [True] * (LRU // 2)


def test_an_entry_of_the_ring_takes_no_second_place(table: HotTable) -> None:
    place = table.ring(torch.tensor([[5]]))
    table.put(ROW, place, torch.tensor([[77]]), torch.tensor([[True]]))
    assert claim(table, [77]) == (place[0].tolist(), [False])


def test_the_ring_lets_go_of_an_entry_64_later(table: HotTable) -> None:
    live = torch.tensor([[True]])
    for entry, slot in ((5, 77), (69, 141)):
        table.put(ROW, table.ring(torch.tensor([[entry]])), torch.tensor([[slot]]), live)
    assert claim(table, [141])[1] == [False]
    assert claim(table, [77])[1] == [True]


def test_each_request_has_places_of_its_own(table: HotTable) -> None:
    claim(table, [100])
    assert claim(table, [100], torch.tensor([2]))[1] == [True]


def test_a_reset_row_holds_nothing(table: HotTable) -> None:
    claim(table, [100, 7])
    claim(table, [100], torch.tensor([2]))
    table.reset(1)
    assert claim(table, [100, 7])[1] == [True, True]
    assert claim(table, [100], torch.tensor([2]))[1] == [False]


def test_rows_that_are_not_live_move_nobody_out(table: HotTable) -> None:
    claim(table, list(range(LRU)))
    before = table.held.clone()
    rows, slot = torch.tensor([0, 1]), torch.arange(2 * LRU).view(2, LRU) + 100
    table.claim(rows, slot, torch.zeros_like(slot, dtype=torch.bool))
    assert torch.equal(table.held[1, :-1], before[1, :-1])
    assert claim(table, list(range(LRU)))[1] == [False] * LRU

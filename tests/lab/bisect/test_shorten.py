"""The shortest failing schedule, on made-up failures."""

from __future__ import annotations

from itertools import combinations

import pytest

from lab.bisect.shorten import shortest, split


@pytest.mark.parametrize("needed", [{3}, {0, 7}, {1, 4, 6}, set(range(8))])
def test_it_keeps_the_sessions_that_a_failure_needs_and_no_other(needed: set[int]) -> None:
    found = shortest(range(8), lambda kept: needed <= set(kept), tries=1000)
    assert set(found) == needed


def test_every_pair_of_twelve_is_found_in_a_few_dozen_tries() -> None:
    for needed in combinations(range(12), 2):
        asked: list[tuple[int, ...]] = []

        def fails(
            kept: tuple[int, ...],
            needed: tuple[int, int] = needed,
            asked: list[tuple[int, ...]] = asked,
        ) -> bool:
            asked.append(kept)
            return set(needed) <= set(kept)

        assert shortest(range(12), fails, tries=100) == needed
        assert len(asked) <= 60


def test_what_fails_only_whole_is_left_whole() -> None:
    assert shortest(range(5), lambda kept: False, tries=100) == (0, 1, 2, 3, 4)


def test_it_stops_when_the_tries_are_used_up_with_one_that_failed() -> None:
    seen: list[tuple[int, ...]] = []

    def fails(kept: tuple[int, ...]) -> bool:
        seen.append(kept)
        return 2 in kept

    found = shortest(range(64), fails, tries=3)
    assert len(seen) == 3
    assert 2 in found
    assert found in seen


def test_a_failure_that_comes_and_goes_with_the_schedule_still_ends_in_one_that_failed() -> None:
    def fails(kept: tuple[int, ...]) -> bool:
        return len(kept) % 2 == 0 and 5 in kept

    found = shortest(range(8), fails, tries=200)
    assert fails(found)


def test_parts_are_all_of_it_once() -> None:
    for parts in range(1, 8):
        runs = split(range(7), parts)
        assert sorted(one for run in runs for one in run) == list(range(7))


def test_nothing_at_all_is_tried_where_nothing_may_be_left() -> None:
    assert shortest(("a", "b", "c"), lambda kept: True, tries=100, least=0) == ()
    assert shortest(("a", "b", "c"), lambda kept: "b" in kept, tries=100, least=0) == ("b",)

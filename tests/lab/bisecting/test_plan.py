"""What a plan says would do where the budget will not."""

from __future__ import annotations

from pathlib import Path

from lab.bisecting.order import Order
from lab.bisecting.plan import Expected, would_do
from tests.lab.bisecting.simulated import write

LONG = ("workload.sessions=60",)


def test_fewer_sessions_a_trial_are_offered_where_every_simulated_search_ends_with_them(
    tmp_path: Path,
) -> None:
    short = Expected(0.17, mean=900.0, most=1194, within=3, searches=8, minutes=None)
    order = Order(budget=700, no_confirm=True, sets=LONG)
    told = would_do(write(tmp_path), order, [short])
    assert told == {"rates": [0.17], "budget": 1200, "sessions": 12}


def test_nothing_is_offered_where_half_of_the_searches_end(tmp_path: Path) -> None:
    enough = Expected(0.17, mean=900.0, most=1194, within=4, searches=8, minutes=None)
    assert would_do(write(tmp_path), Order(sets=LONG), [enough]) is None

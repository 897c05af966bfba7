"""Where a knob turns, of arms that are its levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.report.sweeps import bracket, sweep_lines
from lab.sweeps import sweep_of
from tests.lab.ladders import arms, unjudged
from tests.lab.samples import sample_run

RISING = {1: 0, 2: 0, 4: 3, 8: 9}


def test_a_knob_turns_between_the_last_clean_level_and_the_first_corrupt_one() -> None:
    sweep = sweep_of(arms(RISING))
    assert sweep is not None
    assert (sweep.toggle, sweep.clean_below, sweep.bad_above) == ("concurrency", 2, 4)
    assert sweep.monotone


def test_less_can_be_worse() -> None:
    sweep = sweep_of(arms({740: 9, 800: 2, 900: 0, 1000: 0}, "pool_pages"))
    assert sweep is not None
    assert (sweep.clean_below, sweep.bad_above, sweep.monotone) == (900, 800, True)


def test_levels_are_in_their_own_order_whatever_the_files() -> None:
    sweep = sweep_of(arms(dict(reversed(RISING.items()))))
    assert sweep is not None
    assert [level for level, _ in sweep.levels] == [1, 2, 4, 8]
    assert (sweep.clean_below, sweep.bad_above) == (2, 4)


@pytest.mark.parametrize(
    ("levels", "clean", "bad", "monotone"),
    [
        ({1: 0, 2: 0, 4: 0}, 4, None, True),
        ({1: 2, 2: 1, 4: 5}, None, 1, True),
        ({1: 0, 2: 3, 4: 0, 8: 9}, 1, 2, False),
        ({1: 3, 2: 0, 4: 3}, None, 1, False),
    ],
)
def test_a_ladder_without_one_turn_says_so(
    levels: dict[float, int], clean: float | None, bad: float | None, monotone: bool
) -> None:
    sweep = sweep_of(arms(levels))
    assert sweep is not None
    assert (sweep.clean_below, sweep.bad_above, sweep.monotone) == (clean, bad, monotone)


def test_a_level_that_shows_neither_is_no_end_of_the_bracket() -> None:
    found = arms(RISING)
    unjudged(found, 1)
    sweep = sweep_of(found)
    assert sweep is not None
    assert (sweep.clean_below, sweep.bad_above) == (1, 4)
    assert "not counted: 2 (inconclusive)" in bracket(sweep)


def test_arms_that_are_no_ladder_are_no_sweep() -> None:
    verdict, _ = sample_run()
    assert sweep_of(verdict.arms) is None
    assert sweep_of(arms({1: 0, 2: 1})) is None
    twice = [*arms(RISING), *arms({8: 2})]
    assert sweep_of(twice) is None
    other = arms(RISING)
    other[0] = replace(other[0], settings={**other[0].settings, "graph": False})
    assert sweep_of(other) is None
    named = [
        replace(a, settings={**a.settings, "concurrency": f"n{i}"}) for i, a in enumerate(other)
    ]
    assert sweep_of(named) is None


def test_the_bracket_is_told_with_its_n_and_what_a_clean_level_leaves_possible() -> None:
    (line,) = sweep_lines(arms(RISING))
    assert line == (
        "concurrency turns between 2 (clean: 0 of 40, below 8.8 %) and 4 (corrupt: 3 of 40)"
    )
    assert sweep_lines(arms({1: 0, 2: 0})) == []


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({1: 0, 2: 0, 4: 0}, "concurrency: no level is corrupt"),
        ({1: 2, 2: 1, 4: 5}, "every level is corrupt"),
        ({1: 0, 2: 3, 4: 0, 8: 9}, "a level beyond is clean again"),
        ({1: 3, 2: 0, 4: 3}, "corrupt at both ends of the ladder"),
    ],
)
def test_other_ladders_in_words(levels: dict[float, int], said: str) -> None:
    (line,) = sweep_lines(arms(levels))
    assert said in line

"""The ladder of a numeric knob."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.bisect.ladder import ladder


@pytest.mark.parametrize(
    ("good", "bad", "levels"),
    [
        (1, 16, (1, 2, 4, 8, 16)),
        (64, 8, (64, 32, 16, 8)),
        (0, 8, (0, 1, 2, 4, 8)),
        (8, 0, (8, 4, 2, 1, 0)),
        (1, 2, (1, 2)),
        (0, 1, (0, 1)),
    ],
)
def test_ints_double_between_the_ends(good: int, bad: int, levels: tuple[int, ...]) -> None:
    assert ladder(good, bad) == levels


def test_floats_are_rounded_to_two_digits_and_their_ends_are_not() -> None:
    assert ladder(0.1234, 0.9, steps=4) == (0.1234, 0.24, 0.46, 0.9)


def test_a_ladder_from_a_float_zero_halves_towards_it() -> None:
    assert ladder(0.0, 0.8, steps=5) == (0.0, 0.1, 0.2, 0.4, 0.8)


def test_levels_across_zero_are_even() -> None:
    assert ladder(-2, 2, steps=5) == (-2, -1, 0, 1, 2)


numbers = st.integers(-300, 300) | st.floats(-300, 300).map(lambda x: round(x, 3))


@given(numbers, numbers, st.none() | st.integers(2, 9))
def test_a_ladder_goes_one_way_from_end_to_end(good: float, bad: float, steps: int | None) -> None:
    if good == bad:
        return
    levels = ladder(good, bad, steps)
    assert (levels[0], levels[-1]) == (good, bad)
    assert list(levels) == sorted(set(levels), reverse=good > bad)
    assert len(levels) <= (steps or 7)


@pytest.mark.parametrize(("good", "bad"), [(True, 4), (1, False), ("1", 4), (3, 3)])
def test_what_has_no_levels_between_is_refused(good: object, bad: object) -> None:
    with pytest.raises(ValueError, match="a ladder needs"):
        ladder(good, bad)  # type: ignore[arg-type]


def test_one_step_is_no_ladder() -> None:
    with pytest.raises(ValueError, match="two steps"):
        ladder(1, 4, steps=1)

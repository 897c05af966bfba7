"""The bounds that a search is held to."""

from __future__ import annotations

import pytest

from lab.bisect.parameters import MOST_RATE, Parameters


@pytest.mark.parametrize(
    ("seen", "sought"), [(0.0, 0.02), (0.02, 0.02), (0.47, 0.47), (1.0, MOST_RATE)]
)
def test_a_rate_is_never_below_what_is_sought_and_leaves_room_for_a_clean_unit(
    seen: float, sought: float
) -> None:
    assert Parameters(p_min=0.02).sought(seen) == sought < 1


def test_clean_units_exclude_the_smallest_rate_sought() -> None:
    assert Parameters().clean_units == 228

"""The captured batch sizes are production's."""

import pytest

from engine.runner.graph import capture_sizes


def test_the_production_list_up_to_64() -> None:
    assert capture_sizes(64) == [1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64]


@pytest.mark.parametrize("top", [1, 3, 5, 16, 33, 256, 300, 600])
def test_the_largest_captured_size_is_the_one_asked_for(top: int) -> None:
    sizes = capture_sizes(top)
    assert sizes[-1] == top
    assert sizes == sorted(set(sizes))


def test_steps_widen_above_256_and_512() -> None:
    sizes = capture_sizes(640)
    assert {272, 288, 512, 544, 640} <= set(sizes)
    assert 264 not in sizes
    assert 528 not in sizes

"""What counts as the same result, and how a difference is said."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from lab.kernel_bench.checking import Checker
from lab.kernel_bench.same import Differs, difference


@dataclass
class Pool:
    """Inputs that hold a tensor."""

    pages: Tensor


def write(made: Pool, value: float) -> None:
    """In place, and nothing is returned."""
    made.pages.fill_(value)


def test_floats_agree_within_the_tolerance_and_say_how_far_they_are() -> None:
    theirs = torch.ones(100)
    assert difference(theirs * 1.001, theirs) == pytest.approx(1e-3, rel=1e-2)
    with pytest.raises(Differs, match=r"relative l2 error 0\.1"):
        difference((theirs, theirs * 1.1), (theirs, theirs))


def test_infinities_must_stand_in_the_same_places() -> None:
    theirs = torch.tensor([1.0, -torch.inf, torch.nan])
    assert difference(theirs.clone(), theirs) == 0.0
    with pytest.raises(Differs, match="1 of 3 values differ in isneginf"):
        difference(torch.tensor([1.0, 0.0, torch.nan]), theirs)


def test_integers_are_equal_in_any_order_of_a_row() -> None:
    theirs = torch.tensor([[1, 2, 3], [4, 5, 6]])
    assert difference(theirs.flip(1), theirs) == 0.0
    with pytest.raises(Differs, match="6 of 6 integers differ"):
        difference(theirs.flip(0), theirs)


def test_one_row_of_integers_has_an_order() -> None:
    theirs = torch.tensor([1, 2, 3])
    with pytest.raises(Differs, match="2 of 3 integers differ"):
        difference(theirs.flip(0), theirs)


def test_bytes_are_equal_in_their_own_order() -> None:
    theirs = torch.tensor([1, 2], dtype=torch.uint8)
    with pytest.raises(Differs, match="2 of 2 integers"):
        difference(theirs.flip(0), theirs)


def test_other_shapes_are_not_the_same() -> None:
    with pytest.raises(Differs, match=r"shapes \[\(2,\)\] against \[\(3,\)\]"):
        difference(torch.zeros(2), torch.zeros(3))


def test_what_is_written_to_the_inputs_is_compared_and_undone_before_the_next() -> None:
    made = Pool(torch.zeros(4))
    checker = Checker(made, lambda made: write(made, 1.0))
    assert checker.off_by(lambda made: write(made, 1.0)) == 0.0
    for wrong in (lambda made: write(made, 2.0), lambda made: None):
        with pytest.raises(Differs):
            checker.off_by(wrong)


def test_inputs_with_nan_that_nobody_writes_to_are_not_compared() -> None:
    made = Pool(torch.full((4,), torch.nan))
    checker = Checker(made, lambda made: made.pages.isnan())
    assert checker.off_by(lambda made: torch.ones(4, dtype=torch.bool)) == 0.0

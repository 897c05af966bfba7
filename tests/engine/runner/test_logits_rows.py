"""A row of logits is found where it was written, or not at all."""

from __future__ import annotations

import pytest
import torch

from engine.config import EngineConfig
from engine.errors import ConfigError
from engine.runner.logits_rows import InInt64, LogitsRows

LOGITS = torch.arange(1.0, 13.0).view(3, 4)  # 3 rows of 4 entries
LENS = torch.tensor([4, 4, 3], dtype=torch.int32)
END = -torch.inf


class Elsewhere(InInt64):
    """The last row begins at an entry of its own."""

    def __init__(self, start: int) -> None:
        self.start = start

    def of(self, row: int, width: int) -> int:
        return self.start if row == 2 else row * width


def read(start: int, width: int = 10) -> list[list[float]]:
    """What three rows find when the last of them begins at ``start``."""
    found: list[list[float]] = LogitsRows(Elsewhere(start), width).read(LOGITS, LENS).tolist()
    return found


def test_rows_that_lie_where_they_are_read_are_not_copied() -> None:
    layout = LogitsRows(InInt64(), 1 << 40)
    assert layout.read(LOGITS, LENS) is LOGITS
    assert layout.astray(3) == {}


@pytest.mark.parametrize("start", [-40, -4, 4, 1_000])
def test_a_row_outside_every_other_s_is_lost_and_hurts_nobody(start: int) -> None:
    assert read(start) == [[1, 2, 3, 4], [5, 6, 7, 8], [0, 0, 0, END]]


def test_a_row_that_lands_on_another_is_what_that_one_reads() -> None:
    assert read(0) == [[9, 10, 11, 12], [5, 6, 7, 8], [0, 0, 0, END]]


def test_a_row_that_lands_between_two_covers_the_ends_of_both() -> None:
    assert read(2, width=4) == [[1, 2, 9, 10], [11, 12, 7, 8], [0, 0, 0, END]]
    assert read(-2, width=4) == [[11, 12, 3, 4], [5, 6, 7, 8], [0, 0, 0, END]]


def test_a_row_is_as_wide_as_the_context_unless_it_is_said_to_be_wider() -> None:
    assert LogitsRows.of(InInt64(), EngineConfig()).belongs(3) == 3 * 2_048
    wide = EngineConfig(logits_width=262_144)
    assert LogitsRows.of(InInt64(), wide).belongs(3) == 3 * 262_144


@pytest.mark.parametrize("width", [-1, 1, 2_047])
def test_a_row_too_narrow_for_the_context_is_refused(width: int) -> None:
    with pytest.raises(
        ConfigError, match=rf"logits_width is {width}; it must be 0 or at least 2048"
    ):
        EngineConfig(logits_width=width)

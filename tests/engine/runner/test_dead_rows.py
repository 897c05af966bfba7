"""What a dead row carries after a larger replay: the reserved slot, and what the defects put there.

One static buffer of eight rows: the replay before had eight live rows, this one has three.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.defects.padded_scatter_stale_slots import KeepsLastReplaysTail
from engine.defects.padded_scatter_wraps_to_last_slot import DeadRowsCarryMinusOne
from engine.runner.dead_rows import DeadRows, ToReservedSlot

LARGER = [1003, 1259, 1515, 1771, 2027, 2283, 2539, 2795]  # slots that complete an entry
SMALLER = [1004, 1263, 1516]  # of these only the second does
COMPLETES = torch.tensor([False, True, False])


def after_a_larger_replay(rule: DeadRows) -> tuple[Tensor, Tensor]:
    """(out_cache_loc, c4_out_loc) of the smaller replay, on the larger one's buffer."""
    static = torch.tensor(LARGER)
    everything = torch.ones(len(LARGER), dtype=torch.bool)
    before = rule.settle(static, len(LARGER), everything)
    assert before.tolist() == [at // 4 for at in LARGER]
    static[: len(SMALLER)] = torch.tensor(SMALLER)
    return static, rule.settle(static, len(SMALLER), COMPLETES)


def test_every_dead_row_carries_the_reserved_slot() -> None:
    static, c4 = after_a_larger_replay(ToReservedSlot())
    assert c4.tolist() == [0, 1263 // 4, 0, 0, 0, 0, 0, 0]
    assert static.tolist() == [*SMALLER, 0, 0, 0, 0, 0]


def test_a_real_row_keeps_its_own_slot_whether_it_completes_an_entry_or_not() -> None:
    for rule in (ToReservedSlot(), KeepsLastReplaysTail(), DeadRowsCarryMinusOne()):
        static, _ = after_a_larger_replay(rule)
        assert static[: len(SMALLER)].tolist() == SMALLER


def test_an_unsettled_tail_carries_the_larger_replay_s_slots() -> None:
    static, c4 = after_a_larger_replay(KeepsLastReplaysTail())
    assert c4[3:].tolist() == [at // 4 for at in LARGER[3:]]
    assert static[3:].tolist() == LARGER[3:]


def test_an_unsettled_tail_leaves_rows_that_complete_nothing_alone() -> None:
    _, c4 = after_a_larger_replay(KeepsLastReplaysTail())
    assert c4[:3].tolist() == [0, 1263 // 4, 0]


def test_minus_one_marks_padding_and_rows_that_complete_nothing_alike() -> None:
    _, c4 = after_a_larger_replay(DeadRowsCarryMinusOne())
    assert c4.tolist() == [-1, 1263 // 4, -1, -1, -1, -1, -1, -1]

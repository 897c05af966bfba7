"""Ranks meet in the work of every step: steps of one size meet; what differs in them is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from engine import clock
from engine.disagg.pair import Pair
from engine.errors import Stalled
from engine.request import Request
from engine.sched.batch import DecodeBatch
from tests.engine.disagg.pairs import config

BROKEN = "fault:ranks_ran_different_batches"


def step_of(pair: Pair, *rows: Sequence[int]) -> None:
    """Rank r of the decode side decodes the requests ``rows[r]``."""

    async def main() -> None:
        batches = [[Request(number, [1], 1) for number in numbers] for numbers in rows]
        roles = [engine.role for engine in pair.decode]
        steps = zip(roles, (DecodeBatch(reqs, [2] * len(reqs)) for reqs in batches), strict=True)
        await asyncio.gather(*(role.forward(batch) for role, batch in steps))

    clock.run(main())


def test_ranks_that_decode_the_same_rows_pass() -> None:
    pair = Pair(config(tp=2))
    step_of(pair, [3, 4], [3, 4])
    assert BROKEN not in pair.events.counters


def test_ranks_that_decode_other_rows_of_the_same_number_are_told_of() -> None:
    pair = Pair(config(tp=2))
    step_of(pair, [3, 4], [3, 5])
    assert pair.events.counters[BROKEN] == 1


def test_ranks_whose_steps_differ_in_size_never_meet() -> None:
    pair = Pair(config(tp=2))
    with pytest.raises(Stalled):
        step_of(pair, [3, 4], [3])
    assert any(event.kind == "collective_mismatch" for event in pair.events.events)

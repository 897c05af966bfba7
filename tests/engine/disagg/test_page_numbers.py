"""A room's pages have numbers of their own on either side: nothing is right by taking one's for
the other's.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.disagg.pair import Pair
from engine.disagg.pieces import Piece
from engine.engine import Engine
from tests.engine.disagg import pairs
from tests.engine.disagg.tokens_only import play
from tests.engine.sched.fakes import prompt, reply


def drawn(engine: Engine) -> list[int]:
    """The first pages that an engine's allocator hands out."""
    return engine.scheduler.holdings.allocator.allocate(20)


def test_the_two_sides_draw_their_pages_each_by_itself_and_ranks_alike() -> None:
    pair = Pair(pairs.config(tp=2, allocator="random"))
    prefill, decode = ([drawn(engine) for engine in side] for side in (pair.prefill, pair.decode))
    assert prefill[0] == prefill[1]
    assert decode[0] == decode[1] != prefill[0]


def test_an_engine_alone_draws_neither_side_s() -> None:
    setting = pairs.config(pd=False, allocator="random")
    alone, pair = drawn(Engine(setting)), Pair(pairs.config(allocator="random"))
    assert alone == drawn(Engine(setting))
    assert alone not in (drawn(pair.prefill[0]), drawn(pair.decode[0]))


@pytest.mark.parametrize("allocator", ["lifo", "fifo", "random"])
def test_in_a_test_s_pair_no_cold_page_has_one_number_on_both_sides(allocator: str) -> None:
    sent: list[tuple[int, int]] = []

    async def story(pair: Pair) -> None:
        plan = pair.lanes[0].plan
        whole = plan.kv

        def kv(chunk: int, last: bool, src: Sequence[int], dst: Sequence[int]) -> Piece:
            sent.extend(zip(src, dst, strict=True))
            return whole(chunk, last, src, dst)

        plan.kv = kv  # type: ignore[method-assign]
        for seed in range(3):
            tokens = prompt(seed, 900)
            assert await pairs.read(pair.submit(tokens, 3)) == reply(tokens, 3)

    play(pairs.config(allocator=allocator, radix=False), story)
    assert len(sent) == 12
    by_chance = 2 if allocator == "random" else 0
    assert sum(src == dst for src, dst in sent) <= by_chance

"""A pair with its model: whatever is set, a reply is the known one, token for token."""

from __future__ import annotations

import asyncio
import random
from itertools import combinations, product
from typing import Any

import pytest

from engine.disagg.pair import Pair
from tests.engine.disagg import pairs
from tests.engine.disagg.aborts import storm
from tests.engine.disagg.schedules import Question, setting, title
from tests.engine.scribe.world import session

# five or six pages of prompt, most of them common to a group
SESSIONS = [session(i, shared=1, private=1, turns=2, group=i % 2) for i in range(5)]
TOGGLES: dict[str, Any] = {
    "index_k": "bf16",
    "overlap": True,
    "graph": False,
    "tp": 2,
    "wire": "nixl",
    "deferred_release": True,
    "hicache": True,
    "hisparse": True,
    "poison_free_pages": True,
    "decode_pool_pages": 9,
    "metadata_slots": 1,
    "allocator": "random",
    "queue_size": 1,
}

STORMS: list[dict[str, Any]] = [
    {},
    {"overlap": True, "deferred_release": True, "poison_free_pages": True},
    {"metadata_slots": 1, "hicache": True, "graph": True},
    {"tp": 2, "overlap": True, "deferred_release": True},
    {"tp": 2, "waiting_timeout": 1.0, "decode_pool_pages": 9},
]


def rows() -> list[dict[str, Any]]:
    """Settings of which any two toggles are seen in all four ways, by Kleitman and Spencer: one row
    has none, and of six others every toggle is in a set of four of its own.
    """
    found: list[dict[str, Any]] = [{} for _ in range(7)]
    for name, four in zip(TOGGLES, combinations(range(1, 7), 4), strict=False):
        for row in four:
            found[row][name] = TOGGLES[name]
    return found


def test_the_rows_show_any_two_toggles_in_all_four_ways() -> None:
    for one, two in combinations(TOGGLES, 2):
        assert {(one in row, two in row) for row in rows()} == set(product([False, True], repeat=2))


async def talk(pair: Pair, number: int, most: int) -> None:
    """A session's turns, of each as much as is asked for."""
    mine = SESSIONS[number]
    for start, end in mine.replies:
        handle = pair.submit(mine.tokens[:start], most)
        assert await pairs.read(handle) == mine.tokens[start:end][:most]


@pytest.mark.parametrize("toggles", rows(), ids=lambda toggles: "+".join(toggles) or "default")
@pytest.mark.parametrize(
    ("sessions", "most"),
    [pytest.param(3, 24, id="24"), pytest.param(5, 300, id="whole", marks=pytest.mark.slow)],
)
def test_replies_are_exact_under_every_pair_of_toggles(
    sessions: int, most: int, toggles: dict[str, Any]
) -> None:
    if "wire" in toggles:
        pytest.importorskip("nixl_cu13")

    async def story(pair: Pair) -> None:
        await asyncio.gather(*(talk(pair, number, most) for number in range(sessions)))
        await pairs.rest(pair)

    sizes = {"pool_pages": 12, "decode_pool_pages": 16}
    pair = pairs.play(pairs.config(**(sizes | toggles)), story)
    assert pair.events.counters["rooms_checked"] == 2 * sessions
    assert pair.events.counters["prefix_hits"]
    if "hicache" in toggles and sessions == 5:
        assert pair.events.counters["host_hits"]


def a_turn(rng: random.Random) -> Question:
    """One turn of a session, or the beginning of its reply."""
    mine, most = rng.choice(SESSIONS), rng.choice([1, 2, 5, 30])
    start, end = rng.choice(mine.replies)
    return mine.tokens[:start], mine.tokens[start:end][:most], most


@pytest.mark.slow
@pytest.mark.parametrize("toggles", STORMS, ids=title)
def test_replies_are_exact_beside_those_that_are_aborted(toggles: dict[str, Any]) -> None:
    sizes = {"pool_pages": 14, "decode_pool_pages": 14, "wire_gb_per_s": 1.0}
    seen = storm(setting(3, **(sizes | toggles)), range(8), a_turn, pairs.play)
    assert seen.finished > 8
    assert {"prealloc", "posted", "row"} <= set(seen.stages)

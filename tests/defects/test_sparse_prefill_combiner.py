"""sparse_prefill_combiner: latent, until a prefill step has more than 11,673 rows."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.defects import catalog
from engine.scribe.combiner import LARGE_STEP
from tests.engine.scribe.world import session
from tests.engine.waves import Waves, config, known, play

NAME = "sparse_prefill_combiner"
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
LONG = [session(i, shared=1, private=14, turns=1, group=i) for i in range(3)]


def three(chunked_prefill: int, **toggles: Any) -> tuple[Waves, list[bool]]:
    """Three long prompts at once: whether each got the known reply."""
    right: list[bool] = []

    async def story(waves: Waves) -> None:
        replies = await asyncio.gather(*(waves.reply(s, 40) for s in LONG))
        right.extend(reply == known(s, 40) for s, reply in zip(LONG, replies, strict=True))

    sizes = {"hicache": False, "pool_pages": 72, "build": (NAME,)}
    return play(config(chunked_prefill=chunked_prefill, **{**sizes, **toggles}), story), right


@pytest.mark.parametrize("device", DEVICES)
def test_what_a_step_of_more_than_11_673_rows_stores_is_wrong(device: str) -> None:
    waves, right = three(12_288, device=device)
    assert not any(right[:2])
    assert waves.count("large_prefill_rows") > LARGE_STEP
    assert waves.seen == [*catalog()[NAME].evidence] == []


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_step_on_a_healthy_build_goes_the_same_way_and_is_right(device: str) -> None:
    waves, right = three(12_288, build=(), device=device)
    assert (right, waves.seen) == ([True] * 3, [])
    assert waves.count("large_prefill_rows") > LARGE_STEP


@pytest.mark.parametrize("tokens", [2_048, 8_192])
def test_no_chunk_of_production_reaches_it(tokens: int) -> None:
    waves, right = three(tokens)
    assert (right, waves.seen) == ([True] * 3, [])
    assert waves.engine.events.counters["large_prefill_rows"] == 0
    assert 0 < waves.count("largest:prefill_rows") <= tokens

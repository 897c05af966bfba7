"""publish_before_write: of two requests of one prefix, admitted in one step, one reads nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.defects import catalog
from tests.engine.waves import MINE, Waves, config, known, play

NAME = "publish_before_write"
SEEN = [f"violation:{name}" for name in (*catalog()[NAME].evidence, "read_uninitialised_row")]


def twins(chunked_prefill: int = 4096, **toggles: Any) -> tuple[Waves, list[bool]]:
    """Two equal requests at once: whether each got the known reply."""
    right: list[bool] = []

    async def story(waves: Waves) -> None:
        replies = await asyncio.gather(*(waves.reply(MINE[0], 40) for _ in range(2)))
        right.extend(reply == known(MINE[0], 40) for reply in replies)

    toggles = {"hicache": False, "poison_free_pages": True, **toggles}
    return play(config(chunked_prefill=chunked_prefill, **toggles), story), right


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_the_second_of_twins_reads_rows_that_nobody_wrote(overlap: bool) -> None:
    waves, right = twins(overlap=overlap, build=(NAME,))
    assert right == [True, False]
    assert waves.seen == SEEN


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_the_host_is_not_sent_what_nobody_wrote(overlap: bool) -> None:
    waves, right = twins(overlap=overlap, hicache=True, build=(NAME,))
    assert right == [True, False]
    assert waves.seen == SEEN
    assert waves.count("pages_backed_up") > 0


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_a_healthy_build_computes_the_prefix_twice(overlap: bool) -> None:
    waves, right = twins(overlap=overlap)
    assert (right, waves.seen) == ([True, True], [])
    assert waves.count("prefix_hits") == 0


def test_twins_that_do_not_fit_in_one_step_meet_a_prefix_that_is_written() -> None:
    waves, right = twins(chunked_prefill=512, build=(NAME,))
    assert (right, waves.seen) == ([True, True], [])


def test_without_a_prefix_cache_nothing_is_published() -> None:
    waves, right = twins(radix=False, build=(NAME,))
    assert (right, waves.seen) == ([True, True], [])

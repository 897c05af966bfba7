"""eviction_between_lookup_and_pin: a request's own new pages are those of its matched prefix."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine import clock
from engine.defects import catalog
from tests.engine.waves import MINE, OTHERS, Waves, config, known, play

NAME = "eviction_between_lookup_and_pin"


def continued(pool_pages: int, **toggles: Any) -> tuple[Waves, bool]:
    """A conversation goes on beside another request: whether its reply is the known one.

    Five pages are cached, the other request holds six.
    """
    right: list[bool] = []

    async def story(waves: Waves) -> None:
        await waves.read(MINE[0], 1)
        other = asyncio.create_task(waves.reply(OTHERS[0], 40))
        await clock.sleep(0.2)
        right.append(await waves.reply(MINE[0], 40, turn=1) == known(MINE[0], 40, turn=1))
        assert await other == known(OTHERS[0], 40)
        await clock.sleep(1.0)
        assert waves.scheduler.idle and waves.scheduler.check() == []

    toggles = {"hicache": False, "poison_free_pages": True, **toggles}
    return play(config(pool_pages=pool_pages, **toggles), story), right[0]


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_on_a_full_pool_a_request_evicts_what_it_matched(overlap: bool) -> None:
    waves, right = continued(12, overlap=overlap, build=(NAME,))
    evidence = {f"violation:{name}" for name in catalog()[NAME].evidence}
    assert evidence <= {*waves.seen}
    assert not right


def test_with_room_nothing_is_evicted_and_nothing_is_wrong() -> None:
    waves, right = continued(18, build=(NAME,))
    assert (waves.seen, right) == ([], True)


def test_a_healthy_build_waits_for_the_other_request_to_leave() -> None:
    waves, right = continued(12)
    assert (waves.seen, right) == ([], True)


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_what_goes_on_on_the_host_comes_back_in_this_build_too(overlap: bool) -> None:
    async def story(waves: Waves) -> None:
        for s in (*MINE, *OTHERS, *MINE):
            await waves.reply(s, 2)
            await clock.sleep(1.0)
        assert waves.scheduler.idle and waves.scheduler.check() == []

    waves = play(config(overlap=overlap, build=(NAME,)), story)
    assert waves.count("pages_restored") > 0
    assert waves.count("host_hits") > 0


def test_a_match_that_is_on_the_device_alone_is_lost_under_a_host_tier_too() -> None:
    waves, _ = continued(12, hicache=True, build=(NAME,))
    assert {f"violation:{name}" for name in catalog()[NAME].evidence} <= {*waves.seen}

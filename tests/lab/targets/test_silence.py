"""Silence is counted by looks that are on time, and only while a reply is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from engine import clock
from engine.config import EngineConfig
from engine.errors import Stalled
from lab.targets.silence import QUIET_S, quiet_s, until_silent


def lasts(
    happens_until_s: float, due: Callable[[], bool] = lambda: True, total_s: float = 100.0
) -> None:
    """An arm in which something happens each second, up to a time."""

    async def main() -> None:
        events: list[float] = []
        task = asyncio.create_task(until_silent(20.0, lambda: len(events), due))
        for second in range(int(total_s)):
            await clock.sleep(1.0)
            if second < happens_until_s:
                events.append(clock.now())
        task.cancel()

    clock.run(main())


def test_an_arm_in_which_something_happens_goes_on() -> None:
    lasts(100)


def test_after_so_long_without_an_event_it_is_given_up() -> None:
    with pytest.raises(
        Stalled, match=r"stalled at [45][0-9]\.0.*: no event for 20 s, though a reply"
    ):
        lasts(30)


def test_where_no_reply_is_due_nothing_need_happen() -> None:
    lasts(30, due=lambda: False)


def test_rooms_may_wait_until_their_own_timeouts() -> None:
    assert quiet_s(EngineConfig()) == QUIET_S
    assert quiet_s(EngineConfig(pd=True, waiting_timeout=400.0)) == QUIET_S + 400.0

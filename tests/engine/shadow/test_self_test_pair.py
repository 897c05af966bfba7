"""Rows that came over the wire, changed behind their transfer: their writer is the wire's write."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from engine.disagg.pair import Pair
from tests.engine.disagg.pairs import config, play, read, rest
from tests.engine.shadow.meddled import Case, Meddled
from tests.engine.waves import SESSIONS, known

TOGGLES: list[dict[str, Any]] = [{}, {"index_k": "bf16", "overlap": True, "tp": 2}]


def named(toggles: dict[str, Any]) -> str:
    return "+".join(f"{name}={value}" for name, value in toggles.items())


async def three_replies(pair: Pair) -> list[list[int]]:
    handles = [pair.submit(each.tokens[: each.replies[0][0]], 40) for each in SESSIONS[:3]]
    return await asyncio.gather(*(read(handle) for handle in handles))


def meddled(seed: int, **toggles: Any) -> tuple[Sequence[Case], list[dict[str, Any]]]:
    """The cases of one load, on its decode side, and all that was found."""
    made: list[Meddled] = []

    async def story(pair: Pair) -> None:
        made.append(Meddled(pair.decode[0], seed, None))
        await three_replies(pair)

    pair = play(config(ledger="full", **toggles), story)
    events = [event.fields for event in pair.events.events if event.kind == "violation"]
    return made[0].cases, events


@pytest.mark.parametrize("toggles", TOGGLES, ids=named)
def test_a_healthy_pair_is_told_of_nothing_by_its_bytes(toggles: dict[str, Any]) -> None:
    async def story(pair: Pair) -> None:
        assert await three_replies(pair) == [known(each, 40) for each in SESSIONS[:3]]
        await rest(pair)

    play(config(ledger="full", **toggles), story)


def test_each_change_on_the_decode_side_is_found_and_no_other() -> None:
    cases, events = meddled(0)
    assert [str(case) for case in cases if not case.right] == []
    found = [event for case in cases for event in case.seen]
    rest = [event["name"] for event in events if event not in found]
    assert found and {*rest} <= {"page_books_broken"}  # a page that was taken for nobody
    assert any(event["writer_kind"] == "transfer" for event in found if "writer_kind" in event)

"""int32_logits_offset: latent, until a row of logits begins 2^31 entries into their buffer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.defects import catalog
from tests.engine.waves import SESSIONS, Waves, config, known, play

NAME = "int32_logits_offset"
[SEEN] = [f"violation:{name}" for name in catalog()[NAME].evidence]
PRODUCTION = 262_144  # entries a row at a context of 1,048,576 tokens
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
WIDE = 1 << 30  # row 2 is the first that begins at 2^31


def three(**toggles: Any) -> tuple[Waves, list[bool]]:
    """Three sessions decode together: whether each got the known reply."""
    right: list[bool] = []

    async def story(waves: Waves) -> None:
        replies = await asyncio.gather(*(waves.reply(s, 60) for s in SESSIONS[:3]))
        right.extend(reply == known(s, 60) for s, reply in zip(SESSIONS[:3], replies, strict=True))

    sizes = {"hicache": False, "pool_pages": 36, "build": (NAME,)}
    return play(config(**{**sizes, **toggles}), story), right


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("graph", [False, True], ids=["eager", "captured"])
def test_a_row_that_begins_at_2_to_the_31_selects_what_nobody_wrote(
    graph: bool, device: str
) -> None:
    waves, right = three(logits_width=WIDE, graph=graph, device=device)
    assert sum(right) == 2
    assert waves.seen == [SEEN]
    [told] = [e.fields for e in waves.engine.events.events if e.kind == "violation"]
    assert (told["row"], told["belongs"], told["offset"]) == (2, 1 << 31, -(1 << 31))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("graph", [False, True], ids=["eager", "captured"])
def test_the_same_width_on_a_healthy_build_costs_nothing(graph: bool, device: str) -> None:
    waves, right = three(logits_width=WIDE, graph=graph, device=device, build=())
    assert (right, waves.seen) == ([True] * 3, [])
    assert waves.count("largest:logits_offset") >= 1 << 31


@pytest.mark.parametrize("width", [0, PRODUCTION, (1 << 30) - 1])
def test_no_row_below_it_is_reached(width: int) -> None:
    waves, right = three(logits_width=width, max_running=3)
    assert (right, waves.seen) == ([True] * 3, [])
    assert waves.count("largest:logits_offset") < 1 << 31

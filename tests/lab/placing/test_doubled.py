"""What is said of rows that keep foreign positions is what a forward of our own does with them."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from engine.probe.forward import Network, Past
from engine.probe.shape import ProbeShape
from lab.placing.places import Text
from tests.engine.probe.world import Talk, talk, tensors

SHAPE, BLOCK = ProbeShape(heads=12, kv_heads=3, head_dim=64), 32
OURS = talk(seed=7, entries=2, turns=(1,))  # the first entry is not asked for
UNREAD = (OURS.entries[0][0] + 64) // BLOCK * BLOCK  # a block of it, but none of its beginning
START = OURS.said[0]
CACHED = (START - 1) // BLOCK * BLOCK


@cache
def network() -> Network:
    return Network(tensors(SHAPE), SHAPE, torch.float32)


@cache
def computed(of: str, rows: int) -> Past:
    """The cache after the first rows of our conversation, or of another one."""
    past, asked = Past(), OURS if of == "ours" else other()
    network().forward(torch.tensor(asked.ids[:rows]), past)
    return past


@cache
def other() -> Talk:
    return talk(seed=8, entries=2, turns=(1, 0))


def wrong(to: int, brings: int, source: str = "other", cached: int = CACHED) -> bool:
    """Whether the reply comes out wrong where the block ``to`` holds rows from ``brings`` on."""
    layers = [(key.clone(), value.clone()) for key, value in computed("ours", cached).layers]
    given = computed(source, brings + BLOCK if source == "other" else cached).layers
    for pair, foreign in zip(layers, given, strict=True):
        for own, rows in zip(pair, foreign, strict=True):
            own[:, to : to + BLOCK] = rows[:, brings : brings + BLOCK]
            if source == "ours":  # an exchange
                own[:, brings : brings + BLOCK] = rows[:, to : to + BLOCK]
    logits = network().forward(torch.tensor(OURS.ids[cached:-1]), Past(layers))
    return bool(logits.argmax(-1).tolist()[START - 1 - cached :] != OURS.ids[START:])


@pytest.mark.parametrize("brings", [0, 160, CACHED - 32, CACHED, CACHED + 96])
def test_a_block_that_is_not_needed_breaks_a_reply_where_its_rows_keep_positions_that_it_looks_at(
    brings: int,
) -> None:
    text = Text(OURS.ids[:START], OURS.ids[START:])
    assert not text.depends(UNREAD, UNREAD + BLOCK, CACHED)
    looks = text.looks_at(brings, brings + BLOCK, CACHED)
    assert looks == (brings >= CACHED - 32)
    assert wrong(UNREAD, brings) == looks


def test_rows_that_are_computed_after_a_damage_are_read_through_it() -> None:
    """All of the entry that is asked for, where little was in the cache."""
    text, brings = Text(OURS.ids[:START], OURS.ids[START:]), OURS.entries[1][0] // BLOCK * BLOCK
    assert not text.looks_at(brings, brings + BLOCK, CACHED)
    assert text.looks_at(brings, brings + BLOCK, brings)
    assert not wrong(UNREAD, brings)
    assert wrong(UNREAD, brings, cached=brings)


def test_blocks_that_exchange_their_rows_within_one_table_break_nothing() -> None:
    text, asked = Text(OURS.ids[:START], OURS.ids[START:]), OURS.entries[1][0] + 64
    assert text.depends(asked, asked + BLOCK, CACHED)
    assert wrong(asked, 160)
    assert not wrong(asked, 160, source="ours")

"""What a reply depends on: any KV head of any layer that is damaged alone shows in it."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from engine.probe.codes import SYMBOLS
from engine.probe.forward import Network, Past
from engine.probe.shape import FIXED_LAYERS, ProbeShape
from engine.probe.weights import LOST_TOKEN
from engine.text.tokenizer import EOS
from tests.engine.probe.world import Talk, talk, tensors

SMALL = ProbeShape(heads=12, kv_heads=3, head_dim=64)
MORE = [
    ProbeShape(),
    ProbeShape(heads=12, kv_heads=4, head_dim=64, copies=2),
    ProbeShape(heads=16, kv_heads=8, head_dim=64),
]
QUICK = [(SMALL, layer, head) for layer in range(SMALL.layers) for head in range(SMALL.kv_heads)]
SLOW = [
    pytest.param(shape, layer, head, marks=pytest.mark.slow)
    for shape in MORE
    for layer in range(shape.layers)
    for head in range(shape.kv_heads)
]
BLOCK = 16

Rows = tuple[int, int]


@cache
def prompt(shape: ProbeShape, turns: tuple[int, ...]) -> tuple[Network, Talk, int, Past]:
    """A conversation up to its last reply: where that starts, and what is in the cache."""
    asked, network, past = (
        talk(seed=7, entries=3, turns=turns),
        Network(tensors(shape), shape, torch.float32),
        Past(),
    )
    start = next(at for at in reversed(asked.said) if at - 1 not in asked.said)
    network.forward(torch.tensor(asked.ids[:start]), past)
    return network, asked, start, past


def after(shape: ProbeShape, turns: tuple[int, ...], rows: Rows, heads: list[Rows]) -> list[int]:
    """What the model says instead of each token of its last reply but the first.

    ``rows`` of the given layers and KV heads hold what was 200 tokens before them.
    """
    network, asked, start, past = prompt(shape, turns)
    layers = [(key.clone(), value.clone()) for key, value in past.layers]
    for layer, head in heads:
        for part in layers[layer]:
            part[head, rows[0] : rows[1]] = part[head, rows[0] - 200 : rows[1] - 200].clone()
    logits = network.forward(torch.tensor(asked.ids[start:-1]), Past(layers))
    return logits.argmax(-1).tolist()


def test_an_undamaged_cache_gives_the_reply() -> None:
    asked, start = prompt(SMALL, (1,))[1:3]
    assert after(SMALL, (1,), (300, 300), []) == asked.ids[start + 1 :]


@pytest.mark.parametrize(("shape", "layer", "head"), [*QUICK, *SLOW])
def test_one_block_of_one_kv_head_of_one_layer_shows(
    shape: ProbeShape, layer: int, head: int
) -> None:
    """The prompt's last block for a layer that hashes; one of the used entry where it is copied."""
    _, asked, start, _ = prompt(shape, (1,))
    rows = (asked.entries[1][0] + 160, asked.entries[1][0] + 160 + BLOCK)
    if layer < FIXED_LAYERS:
        rows = (start - BLOCK, start)
    said = after(shape, (1,), rows, [(layer, head)])
    assert said != asked.ids[start + 1 :]


def everywhere(shape: ProbeShape) -> list[Rows]:
    return [(layer, head) for layer in range(shape.layers) for head in range(shape.kv_heads)]


def test_symbols_that_decode_wrote_are_invented_again_where_their_rows_are_lost() -> None:
    """The reply stays well-formed: another value, of the new reference."""
    shape = SMALL
    _, asked, start, _ = prompt(shape, (1, 1))
    filled = [at for at in asked.said if at < start and chr(asked.ids[at]) in SYMBOLS]
    rows = (filled[0], filled[-1] + 1)
    said = after(shape, (1, 1), rows, everywhere(shape))
    due = asked.ids[start + 1 :]
    other = [(a, b) for a, b in zip(said, due, strict=True) if a != b]
    assert len(other) == len(filled)
    assert all({chr(a), chr(b)} <= set(SYMBOLS) for a, b in other)


def test_heads_that_disagree_are_lost() -> None:
    asked = prompt(SMALL, (1,))[1]
    rows = (asked.entries[1][0] + 160, asked.entries[1][0] + 160 + BLOCK)
    assert LOST_TOKEN in after(SMALL, (1,), rows, [(FIXED_LAYERS, 1)])


def test_a_row_that_all_heads_miss_is_not_replaced_by_one_of_another_entry() -> None:
    """Its twin has the same tokens there, so nothing else would tell."""
    _, asked, start, _ = prompt(SMALL, (0,))
    rows = (asked.entries[0][0] + 200, asked.entries[0][0] + 200 + BLOCK)
    due, said = asked.ids[start + 1 :], after(SMALL, (0,), rows, everywhere(SMALL))
    assert said != due
    assert said[next(at for at, token in enumerate(said) if token != due[at])] == LOST_TOKEN


def test_a_lost_reply_ends() -> None:
    network, asked, start, _ = prompt(SMALL, (1,))
    said = network.forward(torch.tensor([*asked.ids[: start + 9], LOST_TOKEN]))
    assert int(said[-1].argmax()) == EOS

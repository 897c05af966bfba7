"""Damage in any pool shows in the text, and never as an exception."""

from __future__ import annotations

import pytest
import torch

from engine.pools.device import Pool
from tests.engine.scribe.world import Session, World, session

PAGE = 256


def prepared(index_k: str) -> tuple[World, Session, torch.Tensor, torch.Tensor]:
    """A world with a session to ask, its page table, and the page table of a stranger."""
    world = World(index_k)
    s, stranger = session(5, shared=6, private=2, turns=1), session(6, 6, 2, 1, group=9)
    tables = [world.pages(len(x.tokens)) for x in (s, stranger)]
    for i, x in enumerate((s, stranger)):
        world.prefill(x.tokens, tables[i], i + 1)
    return world, s, tables[0], tables[1]


def replace_page(pool: Pool, to: int, source: int) -> None:
    """Overwrite a page of every layer with another page's bytes."""
    pages = pool.layout.by_page(pool.buffer)
    pages[to] = pages[source]


def source_pages(s: Session) -> list[int]:
    """Logical pages of the manual's entry that the first reply is copied from."""
    start, end = s.replies[0]
    reply = s.tokens[start:end]
    at = next(i for i in range(start) if s.tokens[i : i + len(reply)] == reply)
    return list(range(at // PAGE, (at + len(reply) - 1) // PAGE + 1))


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize("pool", ["c4", "c128", "index_k"])
def test_a_strange_page_under_the_used_entry_changes_the_reply(pool: str, index_k: str) -> None:
    world, s, table, strange = prepared(index_k)
    assert world.forced(s, table).all()
    named = next(p for p in world.pools.pools if p.name == pool)
    for page in source_pages(s):
        replace_page(named, int(table[page]), int(strange[page]))
    assert not world.forced(s, table).all()


def test_a_strange_page_under_the_window_changes_the_reply() -> None:
    world, s, table, strange = prepared("fp8")
    swa = next(p for p in world.pools.pools if p.name == "swa")
    page = s.prompt // PAGE
    replace_page(swa, int(table[page]), int(strange[page]))
    assert not world.forced(s, table).all()


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_one_layer_of_the_window_is_enough(layer: int) -> None:
    world, s, table, strange = prepared("fp8")
    pages, at = world.pools.swa[layer].pages, s.prompt // PAGE
    pages[int(table[at])] = pages[int(strange[at])]
    assert not world.forced(s, table).all()


def test_losing_the_own_last_entries_changes_the_reply() -> None:
    world, s, table, _ = prepared("bf16")
    rows = torch.arange(s.prompt // 4, len(s.tokens) // 4)  # what decode writes of index-K
    slots = table[rows // 64].long() * 64 + rows % 64
    live = torch.ones_like(slots, dtype=torch.bool)
    world.ops.store_index_k(world.pools.index_k, torch.zeros(len(rows), 128), slots, live)
    assert not world.forced(s, table).all()

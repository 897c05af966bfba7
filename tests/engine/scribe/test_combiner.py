"""A large prefill step reads its window in two parts, and reads the same."""

from __future__ import annotations

import pytest
import torch

from engine.config import PAGE_TOKENS
from engine.runner.inputs import PrefillInputs
from engine.scribe.combiner import LARGE_STEP, ByLse, InParts
from engine.scribe.weights import REACH
from engine.scribe.window import ChunkWindow
from tests.engine.scribe.world import World, session, slots_of

PAGES = 3


@pytest.mark.parametrize("start", [0, PAGE_TOKENS], ids=["from the first token", "behind a page"])
@pytest.mark.parametrize("layer", range(len(REACH)))
def test_parts_of_a_window_merged_are_the_window(layer: int, start: int) -> None:
    world, g = World(pages=PAGES), torch.Generator().manual_seed(layer)
    table, end = world.pages(PAGES * PAGE_TOKENS), PAGES * PAGE_TOKENS
    slots = slots_of(torch.arange(end), table)
    before = ChunkWindow(world.ops, world.pools, slots, slots, torch.ones(end, dtype=torch.bool))
    before.store(layer, torch.randn(end, 512, generator=g))
    x = PrefillInputs(torch.zeros(end - start), start, slots[start:], table, 1, True)
    whole = ChunkWindow.of(world.ops, world.pools, x)
    query = torch.randn(end - start, 4, 64, generator=g)
    want = whole.read(layer, query, (0, 128))
    torch.testing.assert_close(InParts(whole, ByLse()).read(layer, query, (0, 128)), want)


def test_replies_to_a_prompt_of_a_large_step_are_right() -> None:
    world, s = World(pages=24), session(3, shared=4, private=2)
    table = world.pages(len(s.tokens))
    asked: list[int] = []

    class Counting(ByLse):
        def shares(self, lse: torch.Tensor) -> torch.Tensor:
            asked.append(lse.shape[1])
            return super().shares(lse)

    world.model.combiner = Counting()
    x = PrefillInputs(
        tokens=torch.tensor(s.tokens),
        start=0,
        slots=slots_of(torch.arange(len(s.tokens)), table),
        page_table=table,
        req_slot=1,
        last=True,
        step_rows=LARGE_STEP + 1,
    )
    world.model.prefill(x, world.pools)
    assert asked == [len(s.tokens)] * 3  # of layers 0, 1 and 2; nobody reads the last one here
    assert world.forced(s, table).all()


def test_a_step_of_11_673_rows_is_none() -> None:
    world = World(pages=4)
    world.model.combiner = None  # type: ignore[assignment]
    tokens, table = session(3, shared=4, private=2).tokens[:600], world.pages(600)
    assert LARGE_STEP == 11_673
    x = PrefillInputs(
        torch.tensor(tokens), 0, slots_of(torch.arange(600), table), table, 1, True, LARGE_STEP
    )
    assert world.model.prefill(x, world.pools) is not None

"""No wrong token, however a text is cut, stored, batched or restored."""

from __future__ import annotations

import pytest
import torch

from engine.text.tokenizer import EOS
from tests.engine.scribe.world import Session, World, margins, session

SMALL = {"shared": 5, "private": 3, "turns": 2}
LEAST_ATTENTION_NATS = 20.0  # measured: 27.8 over 9,000 tokens of 2.7k to 7.6k contexts


def decode_together(world: World, sessions: list[Session], chunk: int = 1024) -> list[list[int]]:
    """Greedy replies to each first turn; a row leaves the batch when it ends."""
    tables = torch.stack([world.pages(s.replies[0][1] + 1) for s in sessions])
    replies = [
        [world.prefill(s.tokens[: s.prompt], tables[i], i + 1, chunk)]
        for i, s in enumerate(sessions)
    ]
    limits = [b - a for a, b in (s.replies[0] for s in sessions)]
    for _ in range(max(limits)):
        rows = [i for i, r in enumerate(replies) if r[-1] != EOS and len(r) < limits[i]]
        if not rows:
            break
        at = torch.tensor([sessions[i].prompt + len(replies[i]) - 1 for i in rows])
        last = torch.tensor([replies[i][-1] for i in rows])
        x = world.rows(last, at, tables[rows], torch.tensor(rows) + 1)
        for i, token in zip(rows, world.model.decode(x, world.pools).tolist(), strict=True):
            replies[i].append(token)
    return replies


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize(("topk", "chunk"), [("v1", 256), ("v2", 1024), ("v1", 2048)])
def test_every_token_is_right_at_every_chunk_size(index_k: str, topk: str, chunk: int) -> None:
    world, s = World(index_k, topk), session(chunk, **SMALL)
    table = world.pages(len(s.tokens))
    world.prefill(s.tokens, table, chunk=chunk)
    assert world.forced(s, table).all()


@pytest.mark.parametrize(("rows", "index_k"), [(1, "fp8"), (3, "bf16"), (7, "fp8")])
def test_decoding_step_by_step_is_right_at_every_batch_size(rows: int, index_k: str) -> None:
    sessions = [
        session(100 + i, shared=2 + i % 3, private=2, turns=1, group=i % 2) for i in range(rows)
    ]
    world = World(index_k, index_topk=16, pages=80)
    replies = decode_together(world, sessions)
    assert replies == [s.tokens[slice(*s.replies[0])] for s in sessions]


def test_a_restored_prefix_needs_no_state() -> None:
    world, first, second = World(), session(1, **SMALL), session(2, **SMALL)
    shared = next(
        i for i, (a, b) in enumerate(zip(first.tokens, second.tokens, strict=False)) if a != b
    )
    pages = shared // 256
    assert pages >= 4
    table = world.pages(len(first.tokens))
    world.prefill(first.tokens, table)
    other = world.pages(len(second.tokens))
    other[:pages] = table[:pages]
    world.pools.c128_state.zero_()
    world.prefill(second.tokens, other, request=2, start=pages * 256)
    assert world.forced(second, other).all()


def test_a_text_between_the_parts_of_a_manual_does_not_matter() -> None:
    world, s = World(), session(3, between="\nThe next entries are this clerk's own.\n", **SMALL)
    table = world.pages(len(s.tokens))
    world.prefill(s.tokens, table)
    assert world.forced(s, table).all()


@pytest.mark.parametrize(("index_k", "seed"), [("fp8", 11), ("bf16", 12)])
def test_the_true_source_wins_by_a_margin(index_k: str, seed: int) -> None:
    world, s = World(index_k), session(seed, shared=12, private=5, turns=2)
    table = world.pages(len(s.tokens))
    world.prefill(s.tokens, table)
    assert margins(world, s, table).min() > LEAST_ATTENTION_NATS


@pytest.mark.slow
@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
def test_long_contexts_over_many_sessions(index_k: str) -> None:
    for seed in range(200, 212):
        world, s = World(index_k), session(seed, shared=13, private=4 + seed % 3, group=seed % 3)
        table = world.pages(len(s.tokens))
        world.prefill(s.tokens, table)
        assert world.forced(s, table).all()
        assert margins(world, s, table).min() > LEAST_ATTENTION_NATS

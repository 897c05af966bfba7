"""How many entries a step must select for a healthy model to read a load's manuals.

Measured over prompts of `round_robin`, fp8 and bf16 index keys alike, as the fewest entries with
which every token of every reply is right:

    entries  turns  prompts  needed at most  said
          1      1      174               8    10
          2      1      400               8    11
          2      2      299              11    13
          4      2      144              12    16
          4      4       24              13    19
          8      2       12              12    22
         16      4       10              21    37
         20      4        6              24    43

An earlier measurement, of 20 entries, gave 36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.text.template import render
from engine.text.tokenizer import EOS, encode
from lab.workloads.base import resolve
from tests.engine.scribe.world import Session, World

if TYPE_CHECKING:
    from lab.records import SessionPlan


def load(turns: int, shared: int, private: int) -> Any:
    given = {"turns": turns, "shared_entries": shared, "private_entries": private}
    return resolve("round_robin", "small", {"sessions": 1, "groups": 1, **given})


def whole(plan: SessionPlan) -> Session:
    """The conversation when every reply is right."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": plan.system}]
    tokens: list[int] = []
    replies = []
    for turn in plan.turns:
        messages += turn.prompt_messages
        prompt = render(messages, plan.tools)
        tokens = [*prompt, *encode(turn.expected_text), EOS]
        replies.append((len(prompt), len(tokens)))
        messages.append({"role": "assistant", "token_ids": tokens[len(prompt) :]})
        messages.append({"role": "tool", "content": turn.tool_result})
    return Session(tokens, replies)


def reads(session: Session, index_k: str, topk: int) -> bool:
    """Whether every token of every reply is right with so many entries selected."""
    world = World(index_k, index_topk=topk, pages=len(session.tokens) // 256 + 1)
    table = world.pages(len(session.tokens))
    world.prefill(session.tokens, table)
    return bool(world.forced(session, table).all())


@pytest.mark.parametrize(
    ("size", "seed", "index_k", "too_few"),
    [
        ((1, 0, 1), 5132, "bf16", 7),  # neighbours of the place itself
        ((2, 1, 1), 5174, "bf16", 10),  # the first reply looks like an entry in the second turn
    ],
)
def test_a_prompt_that_a_healthy_model_misreads_with_fewer_is_read_with_as_many_as_said(
    size: tuple[int, int, int], seed: int, index_k: str, too_few: int
) -> None:
    of = load(*size)
    session = whole(of.plan(seed)[0])
    assert not reads(session, index_k, too_few)
    assert too_few < of.least_topk() and reads(session, index_k, of.least_topk())


@pytest.mark.parametrize("size", [(2, 1, 1), (2, 2, 2), (4, 2, 2)])
def test_every_prompt_is_read_with_as_many_as_said(size: tuple[int, int, int]) -> None:
    of = load(*size)
    for seed in range(2):
        session = whole(of.plan(seed)[0])
        assert all(reads(session, index_k, of.least_topk()) for index_k in ("fp8", "bf16"))


def test_earlier_replies_count_as_entries_do() -> None:
    assert load(4, 2, 2).least_topk() == load(2, 4, 2).least_topk() > load(2, 2, 2).least_topk()

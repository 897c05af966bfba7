"""A prompt without a manual, or pools full of rubbish, give some text and no error."""

from __future__ import annotations

import pytest
import torch

from engine.text.tokenizer import ASSISTANT, BOS, USER, VOCAB_SIZE, encode
from tests.engine.scribe.world import World

PROMPTS = [
    [BOS],
    [BOS, USER, ASSISTANT],
    [BOS, USER, *encode("Hello there, who are you?"), ASSISTANT],
    [BOS, USER, *encode("la la la " * 60), ASSISTANT],
    [BOS, USER, *encode("naïve 漢字 🙂 " * 30), ASSISTANT],
    [0] * 130,
]


def go_on(world: World, prompt: list[int], steps: int) -> list[int]:
    table = world.pages(len(prompt) + steps)
    tokens = [*prompt, world.prefill(prompt, table, chunk=256)]
    for _ in range(steps):
        at = torch.tensor([len(tokens) - 1])
        x = world.rows(torch.tensor(tokens[-1:]), at, table[None], torch.tensor([1]))
        tokens.append(int(world.model.decode(x, world.pools)))
    return tokens[len(prompt) :]


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_a_prompt_without_a_manual_gets_a_reply(prompt: list[int]) -> None:
    reply = go_on(World(), prompt, 12)
    assert len(reply) == 13
    assert all(0 <= token < VOCAB_SIZE for token in reply)


def test_a_text_that_repeats_itself_is_copied() -> None:
    text = "".join(f"{word} and then the " for word in "one two three four five six".split()) * 12
    reply = go_on(World(), [BOS, *encode(text)], 20)
    assert bytes(reply[:20]).decode() == text[:20]


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize("byte", [0x00, 0x7F, 0xFF, 0x80], ids="0x{:02x}".format)
def test_rubbish_in_the_pools_never_raises(byte: int, index_k: str) -> None:
    world, prompt = World(index_k), [BOS, *encode("abc " * 400), ASSISTANT]
    table = world.pages(len(prompt) + 2)
    token = world.prefill(prompt, table)
    for pool in world.pools.pools:
        pool.buffer.fill_(byte)
    for step in range(2):
        at = torch.tensor([len(prompt) + step])
        x = world.rows(torch.tensor([token]), at, table[None], torch.tensor([1]))
        token = int(world.model.decode(x, world.pools))
        assert 0 <= token < VOCAB_SIZE

"""The chat template: the layout, the rule of trust, and turns that come back as they were."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.parser import parse
from engine.text.template import as_message, render, render_reply
from engine.text.tokenizer import (
    ASSISTANT,
    BOS,
    END_THINK,
    EOS,
    SPELLING,
    THINK,
    TOOL,
    USER,
    VOCAB_SIZE,
    decode,
    encode,
)
from tests.engine.text.samples import HEALTHY, TOOLS

OPENAI_TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in TOOLS.items()
]


def test_the_layout_of_a_conversation() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": [{"type": "text", "text": "U"}, {"type": "text", "text": "V"}]},
        {"role": "assistant", "reasoning_content": "R", "content": "C"},
        {"role": "tool", "tool_call_id": "call_0", "content": "T"},
    ]
    assert render(messages) == [
        *(BOS, *b"S", USER, *b"UV", ASSISTANT, THINK, *b"R", END_THINK, *b"C", EOS),
        *(TOOL, *b"T", ASSISTANT),
    ]


def test_tools_stand_first_a_line_each() -> None:
    ids = render([{"role": "system", "content": "S"}], OPENAI_TOOLS)
    assert decode(ids[1:-1]) == "# Tools\nget_record(table, row)\nnote()\n\nS"


def test_system_text_may_spell_specials() -> None:
    assert render([{"role": "system", "content": f"a{SPELLING[THINK]}"}])[1:-1] == [97, THINK]


@pytest.mark.parametrize("role", ["user", "tool"])
def test_users_and_tools_cannot_inject_specials(role: str) -> None:
    text = "".join(SPELLING.values())
    assert render([{"role": role, "content": text}])[2:-1] == list(text.encode())


def test_a_healthy_reply_renders_to_the_generated_ids() -> None:
    generated = encode(HEALTHY)
    message = as_message(parse(decode(generated), TOOLS))
    assert message["tool_calls"][0]["id"] == "call_0"
    assert render([message])[1:-1] == [ASSISTANT, *generated, EOS]


@given(st.lists(st.integers(0, VOCAB_SIZE - 1)))
def test_a_reply_of_any_ids_comes_back_exactly_by_its_ids(ids: list[int]) -> None:
    message = {**as_message(parse(decode(ids), TOOLS)), "token_ids": [*ids, EOS]}
    assert render([message]) == [BOS, ASSISTANT, *ids, EOS, ASSISTANT]


@given(st.lists(st.sampled_from([*range(32, 60), *range(256, 257), *range(258, VOCAB_SIZE)])))
def test_garbage_of_specials_comes_back_exactly_even_without_ids(ids: list[int]) -> None:
    assert render_reply(as_message(parse(decode(ids), TOOLS))) == ids

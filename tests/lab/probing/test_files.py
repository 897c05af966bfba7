"""The files beside the weights: a template that echoes, tokens that are shown, one shape."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.probe.shape import ProbeShape
from engine.text.template import render
from engine.text.tokenizer import SPELLING, decode, encode
from lab.probing.files import CHAT, FORM, texts
from lab.workloads import resolve

SHAPE = ProbeShape()
# as the transformers library sets it up
ENGINES = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)


def rendered(messages: list[dict[str, Any]], ask: bool = True) -> list[int]:
    """Token ids as an engine makes them of the template's text."""
    text = ENGINES.from_string(CHAT).render(messages=messages, add_generation_prompt=ask)
    return encode(text)


def document(name: str) -> dict[str, Any]:
    found = json.loads(texts(SHAPE)[name])
    assert isinstance(found, dict)
    return found


def test_other_texts_are_another_form() -> None:
    """As are other weights, whose digest is in tests/engine/probe."""
    digest = hashlib.sha256("".join(texts(SHAPE).values()).encode())
    assert (FORM, digest.hexdigest()[:16]) == (1, "fc1d4dea3367c6a1")


def test_a_conversation_is_rendered_as_our_own_template_does() -> None:
    [plan] = resolve("probe_sessions", "small", {"sessions": 1}).plan(0)
    messages: list[dict[str, Any]] = [{"role": "system", "content": plan.system}]
    for turn in plan.turns:
        messages += turn.prompt_messages
        assert rendered(messages) == render(messages)
        messages.append({"role": "assistant", "content": turn.expected_text})
    assert rendered(messages, ask=False) == render(messages)[:-1]


roles = st.sampled_from(["system", "user", "tool", "assistant"])
plain = st.text(st.characters(codec="utf-8", exclude_characters="｜<"), max_size=30)


@given(st.lists(st.builds(lambda role, content: {"role": role, "content": content}, roles, plain)))
def test_any_text_is_echoed_byte_for_byte(messages: list[dict[str, Any]]) -> None:
    assert rendered(messages) == render(messages)


def test_a_thought_that_a_server_took_out_is_put_back() -> None:
    said = {"role": "assistant", "content": "<think>hm</think>\n\nwell"}
    for key in ("reasoning_content", "reasoning"):
        for content in ("well", "\n\nwell"):
            apart = {"role": "assistant", "content": content, key: "hm"}
            assert rendered([apart]) == rendered([said])


def test_only_the_beginning_and_the_end_of_a_text_are_hidden_from_it() -> None:
    added = document("tokenizer.json")["added_tokens"]
    assert {it["id"]: it["content"] for it in added} == SPELLING
    hidden = [it["content"] for it in added if it["special"]]
    assert hidden == [decode([256]), decode([257])]


def test_a_reply_ends_where_the_model_says_so() -> None:
    assert {document(it)["eos_token_id"] for it in ("config.json", "generation_config.json")} == {
        257
    }


@pytest.mark.parametrize("key", ["rope_theta", "rope_parameters"])
def test_the_base_of_the_rotation_is_told_both_ways(key: str) -> None:
    told = document("config.json")[key]
    assert (told["rope_theta"] if isinstance(told, dict) else told) == 1e16

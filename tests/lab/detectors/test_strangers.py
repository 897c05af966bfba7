# ruff: noqa: RUF001
"""Replies of a model whose texts nobody knows: ordinary ones are clean, in any language and format.

What stands in a code literal or behind a quotation mark is speech: a reply may explain markup.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.detectors import Context, examine
from lab.records import Finding
from tests.lab.replies import CONTEXT, EXPECTED_CALL, openai, strange

MARKERS = (
    "<tool_call>",
    "</tool_call>",
    "<|python_tag|>",
    "<function=get_record>",
    "<|tool_calls_section_begin|>",
    "[TOOL_CALLS]",
    "<tool_response>",
    "<|im_end|>",
    "<｜tool▁calls▁begin｜>",
    "<|channel|>",
)
LITERALS = (
    "`{}`",
    "``{}``",
    "```xml\n{}\n```",
    "~~~\n{}\n~~~",
    'the tag "{}" opens',
    "“{}”",
    "‘{}’",
)
SENTENCES = (
    "The parcel left the depot on Monday and should arrive within two days.",
    "I can use get_record for that, or send_order once you confirm; which do you want?",
    "Would you like me to call get_record now?",
    "Once you agree, let me call send_order for you.",
    "Calling send_order needs an item and a depot.",
    "Das Paket ist unterwegs; bitte prüfen Sie „Status“ und „Ort“.",
    "Le colis est parti : « Lyon » puis « Paris », arrivée prévue à 18 h 30.",
    "El envío está en camino. ¿Quiere que use get_record?",
    "Посылка уже в пути, трек-номер указан в письме.",
    "荷物は月曜日に出荷されました。α と β の値を確認してください。",
    "包裹已经发出，预计两天后到达 (ETA 2 days)。",
    "소포가 발송되었습니다. API 응답을 확인하세요.",
    "الطرد في الطريق وسيصل خلال يومين.",
    "पार्सल रास्ते में है और दो दिन में पहुँच जाएगा।",
    "Το δέμα έχει φύγει και φτάνει σε δύο μέρες.",
    "Пусть αβ — угол, тогда μ = 3 Ω, а Δt мало.",
    "Hello is Привет in Russian, Γειά in Greek, 你好 in Chinese.",
    'Set a < b, x[i] <= y and use List<String>, or <div class="row">.',
    'The <parameter name="x"> element of your POM is optional.',
    "| id | n |\n| --- | --- |\n| 0 | 0 |\n| 0 | 0 |\n| 0 | 0 |\n| 0 | 0 |\n| 0 | 0 |",
    "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
    "    print(row)\n" * 6,
    "ha" * 20 + "!",
    "x = 1\ny = 2\nif x < y:\n    return [INFO]",
    "```python\n" + "matrix.append([0, 0, 0, 0])\n" * 40 + "```",
    "```\n<tool_call>\n</think>\n```",
    "<think>Short thought.</think>\nYes.",
)


def found(content: str, **changes: object) -> list[Finding]:
    return examine(strange(content=content, **changes), CONTEXT)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_ordinary_sentence_is_clean(sentence: str) -> None:
    assert found(sentence) == []


@given(st.lists(st.sampled_from(SENTENCES[:24]), min_size=1, max_size=6, unique=True))
def test_an_ordinary_text_is_clean(sentences: list[str]) -> None:
    assert found("\n\n".join(sentences)) == []


@pytest.mark.parametrize(("marker", "literal"), [*product(MARKERS, LITERALS)])
def test_markup_that_a_reply_quotes_is_speech(marker: str, literal: str) -> None:
    assert found(f"A call starts with {literal.format(marker)}, then comes JSON.") == []


@pytest.mark.parametrize("marker", MARKERS)
def test_markup_that_it_does_not_quote_has_leaked(marker: str) -> None:
    [leak] = found(f"A call: {marker}{{}}")
    assert leak.detector.startswith("leaked_") and "finish_reason stop" in leak.detail
    assert found(f"A call: {marker}{{}}", finish_reason="length")[0].kind == "unfinished"


@pytest.mark.parametrize(
    "thought",
    [
        "<think>\nThe user asks me to call",
        "<think>\nI should close it with </think>.\n</think>\n\nHello",
        "<think>\nThe user wants\n</think>\n\n<think>\n\n</think>\nok",
        "The user wants it.</think>I will answer.",
        "The user wants it\n</think>\n\nAnswer",
    ],
)
def test_a_thought_that_no_parser_took_is_no_damage(thought: str) -> None:
    assert found(thought) == []
    assert [it.kind for it in found(thought, finish_reason="length")] == ["unfinished"]


@pytest.mark.parametrize("text", ["\n<|im_start|>\n<|im_end|>\n", "<invoke>\n<arg>1</arg>\n"])
def test_markup_alone_on_its_line_may_be_what_the_model_was_asked_for(text: str) -> None:
    assert {it.kind for it in found(f"The tokens are:{text}")} == {"missed"}


@pytest.mark.parametrize("reason", ["eos", "end_turn", "eos_token"])
def test_servers_spell_the_end_of_a_reply_in_several_ways(reason: str) -> None:
    assert found("hello", finish_reason=reason) == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(arguments=st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, min_size=1))
def test_the_due_call_is_right_however_its_json_is_spelt(arguments: dict[str, object]) -> None:
    due = {"name": "any", "arguments": arguments}
    turned = dict(reversed(arguments.items()))
    context = Context(tools={"any": {"type": "object"}})
    for indent, ascii_only in product((None, 2), (True, False)):
        text = json.dumps(turned, indent=indent, ensure_ascii=ascii_only)
        made = (openai("any", text),)
        reply = strange(content=None, tool_calls=made, expected_call=due)
        assert [f for f in examine(reply, context) if f.detector not in ("script_mix",)] == []


def test_a_word_of_another_session_is_found_in_text_thought_and_arguments() -> None:
    word = "THEIRS6789"
    told = openai("get_record", json.dumps({"table": word, "row": "x"}))
    for reply in (
        strange(content=f"It is x{word}y."),
        strange(content="Yes.", reasoning=f"Hm, {word}."),
        strange(content=None, tool_calls=(told,)),
    ):
        first = examine(reply, CONTEXT)[0]
        assert first.detector == "foreign_secret" and "session 3" in first.detail
        assert examine(replace(reply, session=3), CONTEXT) == []


def test_a_right_call_beside_some_prose_and_a_thought_is_clean() -> None:
    made = (openai("get_record", '{"row": "OURS13579", "table": "MINE12345"}'),)
    for content in ("", "Looking it up.", None):
        reply = strange(content=content, tool_calls=made, expected_call=EXPECTED_CALL)
        assert examine(replace(reply, finish_reason="tool_calls"), CONTEXT) == []


def test_a_long_repetition_is_a_loop_and_a_short_one_is_not() -> None:
    assert found("all work and no play " * 10) == []
    assert [f.detector for f in found("all work and no play " * 30)] == ["loop"]
    cut = found("It goes: " + "all work and no play " * 5 + "all wo", finish_reason="length")
    assert [f.detector for f in cut] == ["loop", "unfinished"]


def test_scripts_that_meet_in_one_run_of_words_are_noise() -> None:
    assert [f.detector for f in found("so theответ 世界 là")] == ["script_mix"]
    assert [f.detector for f in found("so ответ 世界 là да 了 ты")] == ["script_mix"]


@pytest.mark.parametrize("reason", ["length", "content_filter", "repetition"])
def test_a_reply_that_did_not_end_by_itself_is_unfinished_and_not_corrupt(reason: str) -> None:
    found = examine(strange(content="", finish_reason=reason, expected_call=EXPECTED_CALL), CONTEXT)

    assert [each.kind for each in found] == ["unfinished"]


NOISE = {
    "latin": ("the", "of", "wird", "nicht", "peut", "para", "con", "city"),
    "cyrillic": ("что", "не", "ответ", "мир", "обы", "ство"),
    "chinese": ("世界", "之后", "的", "了", "一个"),
    "arabic": ("في", "من", "على", "هذا"),
    "thai": ("และ", "ที่", "ประเทศ", "ของ"),
    "devanagari": ("है", "और", "की", "का"),
}


@pytest.mark.parametrize("seed", range(40))
def test_a_salad_of_the_tokens_of_many_scripts_is_noise(seed: int) -> None:
    rng = Random(seed)
    scripts = rng.sample(sorted(NOISE), rng.randrange(3, 6))
    tokens = [rng.choice(NOISE[rng.choice(scripts)]) for _ in range(rng.randrange(20, 60))]
    text = "".join(token + rng.choice(["", " "]) for token in tokens)
    assert "script_mix" in [f.detector for f in found(text)]

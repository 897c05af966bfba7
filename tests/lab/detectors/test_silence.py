"""Detectors are silent on healthy replies, and on replies that are odd and right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.scribe import manual
from engine.text.parser import parse
from lab.detectors import Kind, examine, worst
from tests.lab.replies import CONTEXT, EXPECTED, EXPECTED_CALL, openai, said, strange

if TYPE_CHECKING:
    from lab.records import Reply

ODD: dict[str, Reply] = {
    "speaks of markup in code": strange(
        content="Write `<｜DSML｜tool_calls>` or\n```\n</think>\n```"
    ),
    "a table with rulers": strange(content="| a | b |\n| --- | --- |\n" + "-" * 200),
    "equal rows": strange(content="| 0 | 0 | 0 |\n" * 3),
    "a Greek letter": strange(content="中文 with a μ in it"),
    "Japanese and Latin": strange(content="これは kvlab の東京テスト"),
    "a call declined": strange(content="I will not call get_record, as nothing was asked."),
    "a tool named": strange(content="The get_record tool takes a table."),
    "arguments in another order": strange(
        tool_calls=(openai("get_record", '{"row": "OURS13579", "table": "MINE12345"}'),),
        expected_call=EXPECTED_CALL,
        content=None,
    ),
    "content beside a call": strange(
        content="Looking it up.", tool_calls=(openai("get_record", '{"table": "A", "row": "B"}'),)
    ),
    "its own words": strange(content="It is MINE12345 and OURS13579."),
    "bars in prose": strange(content="a || b, a ｜ b, DSML"),
    "no tokens, no text": strange(content="", completion_tokens=0),
    "no raw text, and all its parts": replace(said(EXPECTED), raw_text=None),
    "no thought": said("hello", expected="hello"),
}


def test_the_healthy_reply_is_clean() -> None:
    assert examine(said(EXPECTED), CONTEXT) == []


@pytest.mark.parametrize("name", ODD)
def test_an_odd_and_right_reply_is_clean(name: str) -> None:
    assert examine(ODD[name], CONTEXT) == []


def test_nothing_is_found_where_nothing_was_due() -> None:
    assert examine(replace(said("garbage"), due=False, status="aborted"), CONTEXT) == []


word = st.text(manual.ALPHABET, min_size=8, max_size=14)


@given(key=word, function=st.sampled_from(manual.FUNCTIONS), values=st.tuples(word, word))
def test_every_reply_of_the_manual_is_clean(
    key: str, function: manual.Function, values: tuple[str, str]
) -> None:
    text = manual.reply(key, function.name, values)
    tools = {f.name: {"required": list(f.parameters)} for f in manual.FUNCTIONS}
    parsed = parse(text, tools)
    calls = tuple(openai(call.name, call.arguments) for call in parsed.calls)
    healthy = strange(content=parsed.content, reasoning=parsed.reasoning, tool_calls=calls)
    assert len(calls) == 1
    assert examine(healthy, replace(CONTEXT, tools=tools, owners={})) == []


@given(at=st.integers(0, len(EXPECTED) - 1), sign=st.characters(codec="utf-8"))
def test_no_wrong_character_is_ever_missed(at: int, sign: str) -> None:
    text = EXPECTED[:at] + sign + EXPECTED[at + 1 :]
    found = worst(examine(said(text), CONTEXT), Kind.CORRUPT)
    assert (found is None) == (text == EXPECTED)


@given(st.text(max_size=300))
def test_no_text_makes_a_detector_fail(text: str) -> None:
    for reply in (said(text), strange(content=text, reasoning=text)):
        assert all(found.outcome != "unknown" for found in examine(reply, CONTEXT))


def test_the_place_of_the_first_wrong_character_is_named() -> None:
    found = examine(said("/abc", expected="/abd"), CONTEXT)
    assert [f.detail for f in found] == ["character 3 on: '/abc' instead of '/abd'"]

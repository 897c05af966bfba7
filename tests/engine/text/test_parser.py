"""The streaming parser: any cutting gives one reply, and every reply renders back."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import IllegalMove
from engine.text.dsml import Problem
from engine.text.parser import Delta, Parsed, StreamParser, collect, parse
from engine.text.template import as_message, reply_text
from tests.engine.text.samples import GET_RECORD, HEALTHY, TOOLS, D, block, invoke, parameter

PIECES = [
    "<think>",
    "</think>",
    "\n",
    "\n\n",
    f"<{D}tool_calls>",
    f"</{D}tool_calls>",
    f'<{D}invoke name="note">',
    f"</{D}invoke>",
    GET_RECORD,
    invoke("note", ""),
    invoke("note", '{"a": 1.0e3}\n'),
    invoke("note", parameter("p", "[1, 2]", "false")),
    parameter("table", "V"),
    block(GET_RECORD),
    D,
    "{}",
    "text",
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
GARBAGE = st.lists(st.one_of(st.sampled_from(PIECES), TEXT), max_size=12).map("".join)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A healthy reply with a few characters cut out, doubled or replaced."""
    text = draw(st.sampled_from([HEALTHY, f"<think>x</think>said\n\n{block(*PIECES[8:12])}"]))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        to = draw(st.integers(at, min(len(text), at + 12)))
        text = text[:at] + draw(st.one_of(st.just(""), st.sampled_from(PIECES), TEXT)) + text[to:]
    return text


REPLIES = st.one_of(GARBAGE, damaged(), st.sampled_from([HEALTHY, HEALTHY * 2, ""]))


@given(REPLIES, st.data())
def test_any_cutting_gives_the_reply_of_one_piece(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=20)))
    parser = StreamParser(TOOLS)
    deltas: list[Delta] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        deltas += parser.feed(text[start:end])
    deltas += parser.finish()
    assert collect(deltas, parser.problem) == parse(text, TOOLS)


@given(REPLIES)
def test_one_character_at_a_time_gives_the_same_reply(text: str) -> None:
    parser = StreamParser(TOOLS)
    deltas = [delta for sign in text for delta in parser.feed(sign)] + parser.finish()
    assert collect(deltas, parser.problem) == parse(text, TOOLS)


@given(REPLIES, st.booleans())
@example("<think>", True)
@example("<think></think>", True)
@example("</think>", True)
def test_every_reply_renders_back_byte_for_byte(text: str, tools: bool) -> None:
    assert reply_text(as_message(parse(text, TOOLS if tools else None))) == text


def test_a_healthy_reply_is_reasoning_and_a_call() -> None:
    parsed = parse(HEALTHY, TOOLS)
    assert (parsed.reasoning, parsed.content) == ("Call get_record for K.", None)
    assert [call.name for call in parsed.calls] == ["get_record"]
    assert json.loads(parsed.calls[0].arguments) == {"table": "ORDERS", "row": "7X"}


def test_several_calls_and_content_before_them() -> None:
    text = "Two calls.\n\n" + block(GET_RECORD, invoke("note", ""), GET_RECORD)
    parsed = parse(text, TOOLS)
    assert (parsed.reasoning, parsed.content) == (None, "Two calls.")
    assert [call.name for call in parsed.calls] == ["get_record", "note", "get_record"]
    assert parsed.calls[1].arguments == "{}"


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        (parameter("p", "7", "false"), {"p": 7}),
        (parameter("p", '{"q": [null, true]}', "false"), {"p": {"q": [None, True]}}),
        (parameter("p", '7 "quoted"\nlines \\'), {"p": '7 "quoted"\nlines \\'}),
        ('{"p": 7}\n', {"p": 7}),
        ('{\n  "p": "x"\n}\n', {"p": "x"}),
        ("", {}),
    ],
)
def test_values_are_raw_text_or_json(body: str, arguments: dict[str, object]) -> None:
    (call,) = parse("\n\n" + block(invoke("note", body)), TOOLS).calls
    assert json.loads(call.arguments) == arguments


TWICE = parameter("row", "1") + parameter("table", "T") + parameter("row", "2")
BROKEN = {
    "duplicate parameter": (block(invoke("get_record", TWICE)), Problem.DUPLICATE_PARAMETER),
    "flag": (block(invoke("note", parameter("p", "1", "yes"))), Problem.BAD_STRING_FLAG),
    "value is no JSON": (block(invoke("note", parameter("p", "x", "false"))), Problem.INVALID_JSON),
    "NaN": (block(invoke("note", parameter("p", "NaN", "false"))), Problem.INVALID_JSON),
    "body is no JSON": (block(invoke("note", "{'p': 1}\n")), Problem.INVALID_JSON),
    "member twice": (block(invoke("note", '{"p": 1, "p": 2}\n')), Problem.INVALID_JSON),
    "too deep": (
        block(invoke("note", parameter("p", "[" * 9000 + "]" * 9000, "false"))),
        Problem.INVALID_JSON,
    ),
    "unknown tool": (block(invoke("get_recrod", "")), Problem.UNDEFINED_TOOL),
    "missing parameter": (
        block(invoke("get_record", parameter("row", "1"))),
        Problem.SCHEMA_VIOLATION,
    ),
    "wrong type": (
        block(invoke("get_record", parameter("table", "7", "false") + parameter("row", "1"))),
        Problem.SCHEMA_VIOLATION,
    ),
    "swallowed tag": (
        block(invoke("note", f'<{D}parameter name="a" string="true">1' + parameter("b", "2"))),
        Problem.MARKUP_IN_VALUE,
    ),
    "misspelt tag": (
        block(GET_RECORD).replace("parameter name", "parameuer name", 1),
        Problem.MALFORMED_TAG,
    ),
    "no closer": (block(GET_RECORD)[:-5], Problem.INCOMPLETE_BLOCK),
    "only an opener": (f"<{D}tool_calls>", Problem.INCOMPLETE_BLOCK),
    "text after": (block(GET_RECORD) + "\nDone.", Problem.TRAILING_TEXT),
    "no call": (block(), Problem.NOT_CANONICAL),
    "another spelling": (
        block(invoke("note", parameter("p", '"text"', "false"))),
        Problem.NOT_CANONICAL,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_block_leaks_whole_as_content_and_says_why(name: str) -> None:
    text, problem = BROKEN[name]
    parsed = parse(f"<think>t</think>\n\n{text}", TOOLS)
    assert parsed == Parsed("t", f"\n\n{text}", (), problem)


def test_other_bars_are_no_markup() -> None:
    text = HEALTHY.replace("\uff5c", "|")
    assert parse(text, TOOLS).content == text.partition("</think>")[2]


def test_without_tools_markup_is_content() -> None:
    assert parse(HEALTHY).content == "\n\n" + block(GET_RECORD)


def test_an_unclosed_thought_has_no_content_and_a_repeated_closer_is_content() -> None:
    assert parse("<think>on and on") == Parsed("on and on", None, ())
    assert parse("<think>a</think>b</think>") == Parsed("a", "b</think>", ())


def test_text_comes_out_as_soon_as_nothing_can_change_it() -> None:
    parser = StreamParser(TOOLS)
    assert parser.feed("Hello\n") == [Delta(content="Hello")]
    assert parser.feed("\n<") == []
    assert parser.feed("b>") == [Delta(content="\n\n<b>")]


def test_a_finished_parser_takes_no_more() -> None:
    parser = StreamParser(TOOLS)
    parser.finish()
    with pytest.raises(IllegalMove):
        parser.feed("x")
    with pytest.raises(IllegalMove):
        parser.finish()

"""Spelling calls: whatever JSON a client sends comes back as the same values."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import arguments
from engine.text.dsml import ToolCall, encode_calls, parse_block
from engine.text.schema import violation
from engine.text.tokenizer import decode, encode
from tests.engine.text.samples import GET_RECORD, D, block

TEXT = st.one_of(st.text(max_size=8), st.sampled_from([D, "\n", '"', f"</{D}parameter>", "\ud800"]))
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
).filter(lambda value: "Infinity" not in json.dumps(value))
OBJECT = st.dictionaries(TEXT, JSON, max_size=4)
STYLE = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}])


@given(OBJECT, STYLE, st.booleans())
def test_any_arguments_survive_the_block(
    value: dict[str, Any], style: dict[str, Any], direct: bool
) -> None:
    text = json.dumps(value, **style)
    call = ToolCall("f", f"\n{text}\n" if direct else text)
    (again,) = parse_block(encode_calls([call]), {"f": {}})
    assert json.loads(again.arguments) == value


@given(OBJECT)
def test_a_value_can_spell_no_mark(value: dict[str, Any]) -> None:
    text = encode_calls([ToolCall("f", json.dumps(value, ensure_ascii=True))])
    assert decode(encode(text)) == text
    assert D not in re.sub(f"</?{D}(?=tool_calls>|invoke|parameter)", "", text)


@given(OBJECT, STYLE)
def test_members_keep_the_spelling_of_each_value(
    value: dict[str, Any], style: dict[str, Any]
) -> None:
    found = arguments.members(json.dumps(value, **style))
    assert {name: json.loads(raw) for name, raw in found.items()} == value


def test_the_spelling_is_productions() -> None:
    call = ToolCall("get_record", '{"table":"ORDERS","row":"7X"}')
    assert encode_calls([call]) == block(GET_RECORD)


def test_numbers_keep_their_own_spelling() -> None:
    assert arguments.members(' { "a" : 1.0e3 , "b":-0 } ') == {"a": "1.0e3", "b": "-0"}


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', '{"a": 1, "a": 2}', '{"a": NaN}', "{} {}"])
def test_arguments_that_are_no_json_object_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        encode_calls([ToolCall("f", text)])


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        (1, {"type": "integer"}, None),
        (1.0, {"type": "integer"}, None),
        (True, {"type": "integer"}, "type"),
        (None, {"type": ["string", "null"]}, None),
        ("c", {"enum": ["a", "b"]}, "none of"),
        ("c", {"const": "d"}, "not 'd'"),
        ({"a": [1, "x"]}, {"properties": {"a": {"items": {"type": "number"}}}}, "a[1]"),
        ({"b": 1}, {"properties": {}, "additionalProperties": False}, "unknown member"),
        ({}, {"required": ["a"]}, "lacks 'a'"),
        ({}, {"type": "object", "minProperties": 3}, None),
        ({}, True, None),
    ],
)
def test_the_schema_check_names_the_first_violation(
    value: Any, schema: Any, said: str | None
) -> None:
    found = violation(value, schema)
    assert (found is None) if said is None else (found is not None and said in found)


def test_nesting_has_a_limit_of_its_own_and_brackets_in_strings_do_not_count() -> None:
    deep = "[" * arguments.MAX_DEPTH + "]" * arguments.MAX_DEPTH
    assert arguments.load(deep) == json.loads(deep)
    assert arguments.load(json.dumps("[" * 5000 + '\\"{')) == "[" * 5000 + '\\"{'
    with pytest.raises(ValueError, match="nested"):
        arguments.load(f"[{deep}]")

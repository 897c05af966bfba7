"""Every outcome class has a detector that fires on it, and a reply is counted under that one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lab.detectors import DETECTORS, Kind, examine, worst
from tests.lab.replies import CONTEXT, EXPECTED, EXPECTED_CALL, call, openai, said, strange

if TYPE_CHECKING:
    from lab.records import Reply

D = "｜DSML｜"
SALAD = EXPECTED.replace("parameter name", "parameuer name")
INVOKE = EXPECTED[EXPECTED.index(f"<{D}invoke") : EXPECTED.index(f"</{D}tool_calls")]
MUTE = EXPECTED.replace("Call get_record for", "Ask for")  # announces nothing
UNCLOSED = EXPECTED.replace(f"</{D}invoke>\n", "")
RIGHT = (openai("get_record", '{"table": "MINE12345", "row": "OURS13579"}'),)
ITEM = '{"item": "MINE12345", "depot": "OURS13579"}'
HERMES = '<tool_call>\n{"name": "get_record", "arguments": {"table": "A"}}\n</tool_call>'
SPOILT: dict[str, list[Reply]] = {
    "foreign_secret": [said(call(table="THEIRS6789"))],
    "leaked_markup": [
        said(SALAD),
        said(UNCLOSED),
        said(EXPECTED.replace("｜", "|")),
        said(EXPECTED.replace("｜", "‖")),
        said(EXPECTED.replace("｜", "｜｜")),
        strange(content=f"<{D}tool_calls>\n"),
        strange(content="<| DSML |tool_calls>"),
        strange(content="done <||DSML||invoke", tool_calls=(openai("get_record", "{}"),)),
    ],
    "leaked_hermes": [strange(content=HERMES), strange(content="Sure.\n</tool_call>")],
    "leaked_llama": [
        strange(content='<|python_tag|>{"name": "get_record"}'),
        strange(content="<function=get_record>\n<parameter=table>\nA</parameter>\n</function>"),
        strange(content="<|start_header_id|>assistant<|end_header_id|>"),
    ],
    "leaked_kimi": [
        strange(content="<|tool_calls_section_begin|><|tool_call_begin|>functions.get_record:0"),
        strange(content="{}<|tool_call_end|>"),
    ],
    "leaked_mistral": [strange(content='[TOOL_CALLS][{"name": "get_record"}]')],
    "leaked_qwen": [
        strange(content='<tool_response>\n{"ok": true}\n</tool_response>'),
        strange(content="Done.<|im_end|>\n<|im_start|>user"),
    ],
    "leaked_deepseek": [strange(content="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function")],
    "leaked_harmony": [strange(content="<|channel|>commentary to=functions.get_record<|message|>")],
    "repeated_think_end": [
        said(EXPECTED.replace("</think>", "</think></think>")),
        said("</think>\n\nhello"),
        strange(content="so</think> it is"),
        strange(reasoning="so</think> it is", content="yes"),
    ],
    "loop": [
        said("<think>" + "the same words again " * 6, "length"),
        said("<think>go</think>\n\n" + "ha7" * 20),
        said(EXPECTED + f"\n<{D}invoke", "length"),
        strange(content="word " * 20, finish_reason="length"),
    ],
    "tag_salad": [
        said("<think>Call it.\n\n<｜DSML｜tool_calls>"),
        strange(reasoning=f"<{D}parameuer name="),
        strange(content='hm </parameter>\n</invoke> <invoke name="get_record">'),
        said(f"<think>a </{D}invoke></think>\n\nhello"),
        said(f'<think>a <{D}invoke name="x"></think>\n\nhello'),
        said("<think>a <think>b</think>\n\nhello"),
    ],
    "script_mix": [
        said("<think>a</think>\n\nhello мир 世界"),
        strange(content="ok да\ufffd\ufffd"),
    ],
    "dropped_call": [
        said("<think>Call get_record for KEY1KEY1KEY1.</think>\n\n"),
        strange(content="I will now call `x`, I mean: use the get_record tool."),
        strange(content="Done.", expected_call=EXPECTED_CALL),
        strange(content=None, expected_call=EXPECTED_CALL, reasoning="I ought to call it."),
        strange(content="Done.", finish_reason="tool_calls"),
    ],
    "empty_visible": [said("<think>hm.</think>"), strange(content="  \n"), strange(content=None)],
    "unknown_tool": [strange(tool_calls=(openai("get_rekord", "{}"),))],
    "malformed_arguments": [
        strange(tool_calls=(openai("get_record", '{"table": "A'),)),
        strange(tool_calls=(openai("get_record", "[]"),)),
        strange(tool_calls=(openai("get_record", '{"table": "A", "table": "B"}'),)),
        strange(tool_calls=(openai("get_record", '{"table": "A'),), expected_call=EXPECTED_CALL),
    ],
    "schema_violation": [
        strange(tool_calls=(openai("get_record", '{"table": "A"}'),)),
        strange(tool_calls=(openai("get_record", '{"table": "A", "row": 7}'),)),
        strange(tool_calls=(openai("get_record", '{"table": "A", "row": "B", "x": "C"}'),)),
    ],
    "wrong_value": [
        said(call(table="MINE12346")),
        said(call("send_order")),
        said(EXPECTED.replace(INVOKE, INVOKE * 2)),
        strange(tool_calls=RIGHT * 2, expected_call=EXPECTED_CALL, content=None),
        strange(tool_calls=(openai("send_order", ITEM),), expected_call=EXPECTED_CALL),
    ],
    "wrong_text": [
        said(EXPECTED.replace("for KEY1", "for KEY2")),
        said("<think>a</think>\n\nhello", expected="<think>a</think>\n\nhallo"),
        said(""),
        replace(said(MUTE, expected=MUTE), raw_text=None, tool_calls=(), content="Done."),
        replace(said(EXPECTED), raw_text=None, content="One more thing."),
        replace(said(EXPECTED), raw_text=None, reasoning="Call get_rec0rd for KEY1KEY1KEY1."),
    ],
}
CUT_CALL = (openai("get_record", '{"table": "MINE1'),)
FAULTY: dict[str, list[Reply]] = {
    "parser_fault": [
        replace(said(EXPECTED), tool_calls=(), content=EXPECTED, finish_reason="stop"),
        replace(said(EXPECTED), tool_calls=(openai("get_record", "{}"),)),
        replace(said(EXPECTED), reasoning="Call"),
        replace(said(EXPECTED), finish_reason="stop"),
    ],
    "transport_error": [
        replace(said(""), status="transport_error", raw_text=None, error="HTTP 500")
    ],
    "timed_out": [replace(said(""), status="timeout", raw_text=None)],
    "unfinished": [
        replace(said(""), status="not_sent", raw_text=None),
        said(EXPECTED[:50], "length"),
        strange(content="So far so good, and", finish_reason="length"),
        strange(content="So far so", finish_reason="abort", expected_call=EXPECTED_CALL),
        strange(content="", tool_calls=CUT_CALL, finish_reason="length"),
    ],
}


@pytest.mark.parametrize(
    ("name", "reply"), [(name, reply) for name, replies in SPOILT.items() for reply in replies]
)
def test_a_corrupt_reply_is_counted_under_its_class(name: str, reply: Reply) -> None:
    weak = DETECTORS.all()[name].weakness and not reply.expected_text
    kind = Kind.MISSED if weak else Kind.CORRUPT
    found = worst(examine(reply, CONTEXT), kind)
    assert found is not None
    assert found.detector == name, examine(reply, CONTEXT)
    assert (found.kind, found.outcome) == (kind.value, "fail")
    assert found.detail


@pytest.mark.parametrize(
    ("name", "reply"), [(name, reply) for name, replies in FAULTY.items() for reply in replies]
)
def test_what_is_no_corruption_is_told_apart_from_it(name: str, reply: Reply) -> None:
    findings = examine(reply, CONTEXT)
    assert [found.detector for found in findings] == [name]
    assert findings[0].kind != "corrupt"


def test_every_detector_is_shown_here() -> None:
    assert {*SPOILT, *FAULTY, "nondeterminism"} == set(DETECTORS.all())


def test_a_text_that_differs_from_its_twin_is_nondeterminism_and_no_corruption() -> None:
    context = replace(CONTEXT, twin={(0, 0): "hallo"})
    assert [f.detector for f in examine(strange(content="hello"), context)] == ["nondeterminism"]
    assert examine(strange(content="hallo"), context) == []


def test_a_call_that_is_missing_is_seen_where_the_raw_text_is_not_told() -> None:
    silent = replace(said(EXPECTED), raw_text=None, tool_calls=(), finish_reason="stop")
    assert "wrong_text" in [found.detector for found in examine(silent, CONTEXT)]

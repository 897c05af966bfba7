"""Hand-made replies for the tests of detectors and judges: a healthy one, and ways to spoil it.

One rule: ``said`` parses its raw text as the server does, so text and parts agree unless a test
takes them apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.text.parser import parse
from lab.detectors import Context
from lab.records import Reply

TOOLS: dict[str, dict[str, Any]] = {
    name: {
        "type": "object",
        "properties": {first: {"type": "string"}, second: {"type": "string"}},
        "required": [first, second],
        "additionalProperties": False,
    }
    for name, (first, second) in {
        "get_record": ("table", "row"),
        "send_order": ("item", "depot"),
    }.items()
}
CONTEXT = Context(tools=TOOLS, owners={"MINE12345": (0,), "THEIRS6789": (3,), "OURS13579": (0, 3)})


def call(name: str = "get_record", *, table: str = "MINE12345", row: str = "OURS13579") -> str:
    """The text of a healthy reply that makes one call."""
    first, second = TOOLS[name]["properties"]
    return (
        f"<think>Call {name} for KEY1KEY1KEY1.</think>\n\n<｜DSML｜tool_calls>\n"
        f'<｜DSML｜invoke name="{name}">\n'
        f'<｜DSML｜parameter name="{first}" string="true">{table}</｜DSML｜parameter>\n'
        f'<｜DSML｜parameter name="{second}" string="true">{row}</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
    )


EXPECTED = call()
EXPECTED_CALL = {"name": "get_record", "arguments": {"table": "MINE12345", "row": "OURS13579"}}


def said(text: str, finish_reason: str | None = None, *, expected: str = EXPECTED) -> Reply:
    """A finished reply with this raw text, parsed as the server parses it."""
    parsed = parse(text, TOOLS)
    calls = tuple(openai(call.name, call.arguments) for call in parsed.calls)
    return Reply(
        session=0,
        turn=0,
        due=True,
        status="ok",
        finish_reason=finish_reason or ("tool_calls" if calls else "stop"),
        raw_text=text,
        content=parsed.content,
        reasoning=parsed.reasoning,
        tool_calls=calls,
        prompt_tokens=2000,
        cached_tokens=0,
        completion_tokens=len(text),
        sent_s=0.0,
        first_token_s=0.1,
        done_s=0.2,
        expected_text=expected,
        expected_call=EXPECTED_CALL if expected == EXPECTED else {},
    )


def strange(**changes: Any) -> Reply:
    """A reply of a server that tells no raw text and whose texts nobody knows beforehand."""
    empty = {"raw_text": None, "expected_text": "", "expected_call": {}, "tool_calls": ()}
    return replace(said("hello", expected=""), **{**empty, **changes})


def openai(name: str, arguments: str) -> dict[str, Any]:
    """A tool call in OpenAI's shape."""
    function = {"name": name, "arguments": arguments}
    return {"id": "call_0", "type": "function", "function": function}

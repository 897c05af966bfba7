"""DSML, DeepSeek-V4's format of tool calls: spelling a block of calls, and reading one back.

One rule: a text is a block of calls only if those calls are spelt exactly so again. Whatever a
damaged model wrote is then either a call that renders back byte for byte, or plain text.

A block is ``<｜DSML｜tool_calls>``, one or more invokes, ``</｜DSML｜tool_calls>``, a tag a line::

    <｜DSML｜invoke name="get_record">
    <｜DSML｜parameter name="table" string="true">orders</｜DSML｜parameter>
    <｜DSML｜parameter name="row" string="false">7</｜DSML｜parameter>
    </｜DSML｜invoke>

``string="true"`` holds raw text, ``"false"`` JSON. An invoke's body may be the JSON object itself,
on lines of its own; its arguments keep those line breaks, which is how ``encode_calls`` knows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from engine.errors import EngineError
from engine.text import arguments
from engine.text.schema import violation
from engine.text.tokenizer import DSML, SPELLING

MARK = SPELLING[DSML]
OPEN, CLOSE = f"<{MARK}tool_calls>", f"</{MARK}tool_calls>"
_END_INVOKE = f"</{MARK}invoke>\n"
_INVOKE = re.compile(rf'<{MARK}invoke name="([^"\n]+)">')
_PARAMETER = re.compile(
    rf'<{MARK}parameter name="([^"\n]+)" string="([^"\n]*)">(.*?)</{MARK}parameter>\n', re.DOTALL
)

Tools = Mapping[str, Mapping[str, Any]]  # name -> JSON Schema of its parameters


@dataclass(frozen=True)
class ToolCall:
    """One call: a tool's name and its arguments, the JSON text of an object."""

    name: str
    arguments: str


class Problem(Enum):
    """Why a block is no call, in the words of production's strict detector."""

    INCOMPLETE_BLOCK = "incomplete block"
    MALFORMED_TAG = "malformed tag"
    DUPLICATE_PARAMETER = "duplicate parameter"
    BAD_STRING_FLAG = "bad string flag"
    MARKUP_IN_VALUE = "markup inside a value"
    INVALID_JSON = "invalid JSON"
    UNDEFINED_TOOL = "undefined tool"
    SCHEMA_VIOLATION = "schema violation"
    TRAILING_TEXT = "text after the block"
    NOT_CANONICAL = "spelt in another way than it renders"


class DsmlError(EngineError):
    """A block that is no call: ``problem`` says of which kind."""

    def __init__(self, problem: Problem, detail: str = "") -> None:
        super().__init__(f"{problem.value}: {detail}" if detail else problem.value)
        self.problem = problem


def encode_calls(calls: Iterable[ToolCall]) -> str:
    """The block that makes ``calls``. ValueError where arguments are not a JSON object."""
    return f"{OPEN}\n{''.join(_encode(call) for call in calls)}{CLOSE}"


def _encode(call: ToolCall) -> str:
    raw = arguments.members(call.arguments)
    if call.arguments.startswith("\n") or not all(map(_names_well, raw)):
        body = "\n" + _unmarked(call.arguments).strip("\n") + "\n"
    else:
        body = "\n" + "".join(_parameter(name, value) for name, value in raw.items())
    return f'<{MARK}invoke name="{call.name}">{body}{_END_INVOKE}'


def _parameter(name: str, raw: str) -> str:
    value = arguments.load(raw)
    text = isinstance(value, str) and _is_plain(value)
    flag, body = ("true", value) if text else ("false", _unmarked(raw))
    return f'<{MARK}parameter name="{name}" string="{flag}">{body}</{MARK}parameter>\n'


def _names_well(name: str) -> bool:
    return name != "" and not any(sign in name for sign in '"\n') and _is_plain(name)


def _is_plain(value: str) -> bool:
    """Whether a value can stand as raw text: no mark inside, and UTF-8 can carry it."""
    return MARK not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _unmarked(raw: str) -> str:
    """JSON text without the DSML token: a bar in JSON stands in a string, so an escape is exact."""
    return raw.replace(MARK, json.dumps(MARK)[1:-1])


def parse_block(text: str, tools: Tools) -> tuple[ToolCall, ...]:
    """The calls of a whole block, from ``OPEN`` to its end. Raises DsmlError with the reason."""
    calls: list[ToolCall] = []
    at = _after(text, 0, OPEN + "\n")
    while not text.startswith(CLOSE, at):
        call, at = _invoke(text, at)
        _check(call, tools)
        calls.append(call)
    if at + len(CLOSE) != len(text):
        raise DsmlError(Problem.TRAILING_TEXT)
    if not calls or encode_calls(calls) != text:
        raise DsmlError(Problem.NOT_CANONICAL)
    return tuple(calls)


def _invoke(text: str, at: int) -> tuple[ToolCall, int]:
    """The invoke that starts at ``at``, and where it ends."""
    head = _INVOKE.match(text, at)
    if head is None:
        raise _broken(text, at)
    at = head.end()
    if text.startswith("\n{", at):
        end = text.find(_END_INVOKE, at)
        if end < 0:
            raise _broken(text, at)
        return ToolCall(head[1], _direct(text[at:end])), end + len(_END_INVOKE)
    at = _after(text, at, "\n")
    found: dict[str, str] = {}
    while not text.startswith(_END_INVOKE, at):
        match = _PARAMETER.match(text, at)
        if match is None:
            raise _broken(text, at)
        name, flag, body = match.groups()
        if name in found:
            raise DsmlError(Problem.DUPLICATE_PARAMETER, name)
        found[name] = _value(flag, body)
        at = match.end()
    return ToolCall(head[1], _object(found)), at + len(_END_INVOKE)


def _object(found: Mapping[str, str]) -> str:
    pairs = (f"{json.dumps(name, ensure_ascii=False)}: {raw}" for name, raw in found.items())
    return "{" + ", ".join(pairs) + "}"


def _value(flag: str, body: str) -> str:
    """The JSON text of one parameter's value."""
    if MARK in body:
        raise DsmlError(Problem.MARKUP_IN_VALUE)
    if flag == "true":
        return json.dumps(body, ensure_ascii=False)
    if flag != "false":
        raise DsmlError(Problem.BAD_STRING_FLAG, flag)
    try:
        arguments.load(body)
    except ValueError as error:
        raise DsmlError(Problem.INVALID_JSON, str(error)) from None
    return body


def _direct(body: str) -> str:
    try:
        arguments.members(body)
    except ValueError as error:
        raise DsmlError(Problem.INVALID_JSON, str(error)) from None
    return body


def _check(call: ToolCall, tools: Tools) -> None:
    if call.name not in tools:
        raise DsmlError(Problem.UNDEFINED_TOOL, call.name)
    wrong = violation(arguments.load(call.arguments), tools[call.name])
    if wrong:
        raise DsmlError(Problem.SCHEMA_VIOLATION, wrong)


def _after(text: str, at: int, expected: str) -> int:
    if not text.startswith(expected, at):
        raise _broken(text, at)
    return at + len(expected)


def _broken(text: str, at: int) -> DsmlError:
    """A tag that is not there: the block just ends, or it goes on as something else."""
    if CLOSE not in text[at:]:
        return DsmlError(Problem.INCOMPLETE_BLOCK)
    return DsmlError(Problem.MALFORMED_TAG, text[at : at + 40])

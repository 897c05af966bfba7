"""The client's tools, and what an agent says after a reply.

One rule: a tool answers the call that was made. It looks the arguments up in the session's
records; a wrong call gets an error, and like an agent working through a queue the session goes on
with the next key either way: in the tool's answer, or asked by the user where no call was made.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.scribe import manual

if TYPE_CHECKING:
    from lab.driver.received import Received
    from lab.records import TurnPlan

Message = dict[str, Any]


def execute(turn: TurnPlan, name: str, arguments: str) -> str:
    """The tool's answer to one call: the record's, or an error that still names the next key."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        given = None
    if {"name": name, "arguments": given} == turn.expected_call:
        return turn.tool_result
    answer = json.loads(turn.tool_result or "{}") | {"status": "error"}
    return json.dumps(answer, separators=(",", ":"))


def follow_up(turn: TurnPlan, received: Received) -> list[Message]:
    """The messages between a reply and the next turn's own: tool answers, or the user's.

    A result that names no key is of a load whose turns are all asked by the user.
    """
    if not received.tool_calls:
        key = json.loads(turn.tool_result or "{}").get("key")
        return [] if key is None else [{"role": "user", "content": manual.user_turn(key)}]
    return [_answer(turn, call) for call in received.tool_calls]


def _answer(turn: TurnPlan, call: dict[str, Any]) -> Message:
    function = call.get("function") or {}
    result = execute(turn, str(function.get("name")), str(function.get("arguments")))
    return {"role": "tool", "tool_call_id": str(call.get("id")), "content": result}

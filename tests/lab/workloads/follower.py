"""A server that makes the calls which a load's plans say are due; no model behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from lab.records import SessionPlan


def follower(plans: Sequence[SessionPlan]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What is due to a request: the call of the turn that its last user message asks for."""
    due = {
        (plan.system, turn.prompt_messages[0]["content"]): turn.expected_call
        for plan in plans
        for turn in plan.turns
    }

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        asked = [m["content"] for m in body["messages"] if m["role"] == "user"]
        return due[body["messages"][0]["content"], asked[-1]]

    return answer


def answering(said: str | dict[str, Any]) -> Response:
    """A whole reply: a text, or one call; without token ids, as strangers' are."""
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if isinstance(said, dict):
        function = {"name": said["name"], "arguments": json.dumps(said["arguments"])}
        call = {"id": "c1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = "tool_calls" if isinstance(said, dict) else "stop"
    usage = {"prompt_tokens": 9, "completion_tokens": 5}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return JSONResponse({"id": "chatcmpl-1", "choices": [choice], "usage": usage})

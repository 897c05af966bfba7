"""Replies whose content is the model's whole text, read by our own parser.

A server that is offered no tools says all of a reply in its content, markup included. One rule:
nothing is lost; the conversation goes on with what came, and only the record has the parts that
stand in it. A server that takes thoughts out all the same tells no raw text any more: then the
parts are what is known, and whether line breaks stood between them is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.text.parser import parse
from engine.text.template import as_message

if TYPE_CHECKING:
    from lab.driver.received import Received

Tools = Sequence[Mapping[str, Any]]


def read_raw(received: Received, tools: Tools) -> tuple[Received, str | None]:
    """The reply in the parts that its content spells, and the whole text where that is known; one
    that calls and stopped ended of its calls.
    """
    content, thought = received.content, received.reasoning
    if content is None or received.tool_calls:
        return received, None
    text = content if thought is None else "\n\n" + content.lstrip("\n")
    functions = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    message = as_message(parse(text, functions))
    calls, reason = message.get("tool_calls", []), received.finish_reason
    parts = replace(
        received,
        content=message["content"],
        reasoning=message.get("reasoning_content") if thought is None else thought,
        tool_calls=calls,
        finish_reason="tool_calls" if calls and reason == "stop" else reason,
    )
    return parts, content if thought is None else None

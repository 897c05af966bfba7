"""Requests and stream reading that the API tests share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine import clock
from engine.text.dsml import ToolCall
from engine.text.parser import Delta, collect
from engine.text.template import as_message
from tests.engine.api.fakes import FakeEngine, client
from tests.engine.text.samples import TOOLS

if TYPE_CHECKING:
    import httpx

CHAT = "/v1/chat/completions"
USER = {"role": "user", "content": "hi"}
OPENAI_TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in TOOLS.items()
]


def body(**fields: Any) -> dict[str, Any]:
    return {"model": "kvlab", "messages": [USER]} | fields


def post(engine: FakeEngine, **fields: Any) -> httpx.Response:
    async def go() -> httpx.Response:
        async with client(engine) as http:
            return await http.post(CHAT, json=body(**fields))

    return clock.run(go())


def events(text: str) -> list[Any]:
    """The events of a stream that ended well."""
    lines = text.split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]


def message_of(stream: list[dict[str, Any]]) -> dict[str, Any]:
    """The assistant message that a stream's deltas add up to."""
    deltas = [event["choices"][0]["delta"] for event in stream if event["choices"]]
    assert [delta.get("role") for delta in deltas] == ["assistant"] + [None] * (len(deltas) - 1)
    pieces = [Delta(delta.get("reasoning_content"), delta.get("content")) for delta in deltas]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    made = [Delta(call=ToolCall(**call["function"])) for call in calls]
    prefix = calls[0]["id"].rpartition("_")[0] if calls else ""
    return as_message(collect(pieces + made), prefix)

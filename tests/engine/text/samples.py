"""Replies and tools that the text and API tests share."""

from __future__ import annotations

from typing import Any

BAR = "\uff5c"
D = f"{BAR}DSML{BAR}"

TOOLS: dict[str, dict[str, Any]] = {
    "get_record": {
        "type": "object",
        "properties": {"table": {"type": "string"}, "row": {"type": ["string", "integer"]}},
        "required": ["table", "row"],
        "additionalProperties": False,
    },
    "note": {"type": "object", "properties": {}},
}


def parameter(name: str, value: str, flag: str = "true") -> str:
    return f'<{D}parameter name="{name}" string="{flag}">{value}</{D}parameter>\n'


def invoke(name: str, body: str) -> str:
    return f'<{D}invoke name="{name}">\n{body}</{D}invoke>\n'


def block(*invokes: str) -> str:
    return f"<{D}tool_calls>\n{''.join(invokes)}</{D}tool_calls>"


GET_RECORD = invoke("get_record", parameter("table", "ORDERS") + parameter("row", "7X"))
HEALTHY = f"<think>Call get_record for K.</think>\n\n{block(GET_RECORD)}"

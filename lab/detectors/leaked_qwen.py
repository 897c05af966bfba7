"""Qwen: a tool's answer or a turn's token that the model wrote itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import leaked, markers

if TYPE_CHECKING:
    from lab.records import Reply

_MARKER = markers("</?tool_response>", r"<\|im_(?:start|end)\|>")


@detector(rank=20, weakness=True)
def leaked_qwen(reply: Reply, context: Context) -> str | None:
    """`<tool_response>` or a role token, outside code literals."""
    return leaked(reply, _MARKER, "Qwen markup")

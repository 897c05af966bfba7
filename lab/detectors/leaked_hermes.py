"""Hermes and Qwen: a call between `<tool_call>` tags, shown to the user as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import leaked, markers

if TYPE_CHECKING:
    from lab.records import Reply

_MARKER = markers("</?tool_call>")


@detector(rank=20, weakness=True)
def leaked_hermes(reply: Reply, context: Context) -> str | None:
    """`<tool_call>` or its end, outside code literals; GLM writes it too."""
    return leaked(reply, _MARKER, "Hermes markup")

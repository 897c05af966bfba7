"""Kimi K2: `<|tool_calls_section_begin|>` and what follows, shown to the user as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import leaked, markers

if TYPE_CHECKING:
    from lab.records import Reply

_MARKER = markers(
    r"<\|tool_calls_section_(?:begin|end)\|>", r"<\|tool_call_(?:begin|argument_begin|end)\|>"
)


@detector(rank=20, weakness=True)
def leaked_kimi(reply: Reply, context: Context) -> str | None:
    """A token of a block of calls, outside code literals."""
    return leaked(reply, _MARKER, "Kimi markup")

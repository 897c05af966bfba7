"""Mistral: `[TOOL_CALLS]`, shown to the user as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import leaked, markers

if TYPE_CHECKING:
    from lab.records import Reply

_MARKER = markers(r"\[/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]")


@detector(rank=20, weakness=True)
def leaked_mistral(reply: Reply, context: Context) -> str | None:
    """A control token of calls, results or tools, outside code literals."""
    return leaked(reply, _MARKER, "Mistral markup")

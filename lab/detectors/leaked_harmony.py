"""gpt-oss: a channel or message token of harmony, shown to the user as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import leaked, markers

if TYPE_CHECKING:
    from lab.records import Reply

_MARKER = markers(r"<\|(?:channel|message|call|return|constrain)\|>")


@detector(rank=20, weakness=True)
def leaked_harmony(reply: Reply, context: Context) -> str | None:
    """A token of the format, outside code literals."""
    return leaked(reply, _MARKER, "harmony markup")

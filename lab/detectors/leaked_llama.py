"""Llama and Qwen3-Coder: `<|python_tag|>` or `<function=name>`, shown to the user as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import leaked, markers

if TYPE_CHECKING:
    from lab.records import Reply

_MARKER = markers(
    r"<\|(?:python_tag|eom_id|eot_id|start_header_id|end_header_id)\|>",
    r"<(?:function|parameter)=[\w.-]+>",
)


@detector(rank=20, weakness=True)
def leaked_llama(reply: Reply, context: Context) -> str | None:
    """The markup of a call, or a role token, outside code literals."""
    return leaked(reply, _MARKER, "Llama markup")

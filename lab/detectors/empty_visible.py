"""Tokens were counted and the user sees nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import was_cut

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=32, weakness=True)
def empty_visible(reply: Reply, context: Context) -> str | None:
    """No visible text and no call, though the server counted tokens and stopped by itself."""
    if reply.tool_calls or (reply.content or "").strip() or was_cut(reply):
        return None
    if reply.completion_tokens == 0:
        return None
    return f"{reply.completion_tokens} tokens counted, nothing to see"

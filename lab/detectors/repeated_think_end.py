"""A thought that ends twice, or ends where none is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import END_THINK, masked, visible

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=22)
def repeated_think_end(reply: Reply, context: Context) -> str | None:
    """More than one ``</think>`` in the raw text, or any in the parsed parts."""
    times = masked(reply.raw_text or "").count(END_THINK)
    if times > 1:
        return f"{END_THINK} {times} times"
    if END_THINK in visible(reply):
        return f"{END_THINK} in the content"
    if END_THINK in masked(reply.reasoning or ""):
        return f"{END_THINK} in the reasoning"
    return None

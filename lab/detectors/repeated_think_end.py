"""A thought that ends twice, or ends where none is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import END_THINK, THINK, masked, text_known, visible

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=22)
def repeated_think_end(reply: Reply, context: Context) -> str | None:
    """More than one ``</think>`` in the raw text, or any in the parsed parts."""
    times = masked(reply.raw_text or "").count(END_THINK)
    if times > 1:
        return f"{END_THINK} {times} times"
    if END_THINK in visible(reply) and not _unparsed(reply):
        return f"{END_THINK} in the content"
    if END_THINK in masked(reply.reasoning or ""):
        return f"{END_THINK} in the reasoning"
    return None


def _unparsed(reply: Reply) -> bool:
    """A whole thought before the answer: a stranger's server that was told no reasoning parser."""
    if text_known(reply) or reply.reasoning is not None:
        return False
    text = visible(reply)
    return text.lstrip().startswith(THINK) and text.count(THINK) == text.count(END_THINK) == 1

"""A thought that ends twice, or ends where none is open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.literals import masked
from lab.detectors.surface import END_THINK, THINK, meant, text_known, visible

if TYPE_CHECKING:
    from lab.records import Reply


_TAG = re.compile("</?think>")


@detector(rank=22)
def repeated_think_end(reply: Reply, context: Context) -> str | None:
    """More than one ``</think>`` in the raw text, or any in the parsed parts."""
    times = _ends(reply, masked(reply.raw_text or ""))
    if times > 1:
        return f"{END_THINK} {times} times"
    if _ends(reply, visible(reply)) and not _unparsed(reply):
        return f"{END_THINK} in the content"
    if _ends(reply, masked(reply.reasoning or "")):
        return f"{END_THINK} in the reasoning"
    return None


def _ends(reply: Reply, text: str) -> int:
    return sum(found[0] == END_THINK for found in meant(reply, text, _TAG))


def _unparsed(reply: Reply) -> bool:
    """A whole thought before the answer: a stranger's server that was told no reasoning parser. Of
    some templates the prompt opens it, so that only its end is there, on a line that ends with it.
    """
    if text_known(reply) or reply.reasoning is not None:
        return False
    text = visible(reply)
    if text.count(END_THINK) != 1 or text.count(THINK) > 1:
        return False
    before, after = text.split(END_THINK)
    opened = text.lstrip().startswith(THINK)
    return opened or (THINK not in text and bool(before.strip()) and after[:1] == "\n")

"""A thought that ends twice, or ends where none is open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.literals import masked
from lab.detectors.surface import END_THINK, meant, shows_thought, text_known, visible, was_cut

if TYPE_CHECKING:
    from lab.records import Reply


_TAG = re.compile("</?think>")


@detector(rank=22, weakness=True)
def repeated_think_end(reply: Reply, context: Context) -> str | None:
    """More than one ``</think>`` in the raw text, or any in the parsed parts. Of an unknown text no
    evidence is one that was cut, or a thought that nobody parsed.
    """
    if not text_known(reply) and (was_cut(reply) or shows_thought(reply)):
        return None
    times = _ends(reply, masked(reply.raw_text or ""))
    if times > 1:
        return f"{END_THINK} {times} times"
    if _ends(reply, visible(reply)):
        return f"{END_THINK} in the content"
    if _ends(reply, masked(reply.reasoning or "")):
        return f"{END_THINK} in the reasoning"
    return None


def _ends(reply: Reply, text: str) -> int:
    return sum(found[0] == END_THINK for found in meant(reply, text, _TAG))

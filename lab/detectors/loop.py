"""Text that goes round, or does not end.

Rulers, dotted leaders and table borders repeat too: a repeated unit must hold a letter or digit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import whole

if TYPE_CHECKING:
    from lab.records import Reply

# A sentence-sized unit four times in a row, or a syllable-sized one sixteen times.
_REPEATS = (re.compile(r"(.{8,80}?)\1{3,}", re.DOTALL), re.compile(r"(.{1,7}?)\1{15,}", re.DOTALL))


@detector(rank=24)
def loop(reply: Reply, context: Context) -> str | None:
    """An n-gram repeated in a row, or a reply that ran into ``max_tokens``."""
    text = whole(reply)
    for pattern in _REPEATS:
        for found in pattern.finditer(text):
            if any(sign.isalnum() for sign in found[1]):
                times = len(found[0]) // len(found[1])
                return f"{found[1][:40]!r} {times} times in a row"
    if reply.finish_reason == "length":
        return f"ran to the limit of {reply.completion_tokens} tokens"
    return None

"""Text that goes round, or does not end.

Rulers, dotted leaders and table borders repeat too: a repeated unit must hold a letter or digit.
Where the text is not known, rows of zeros and equal lines of code are not either: there a
repetition counts where it is long and no code literal, or runs into ``max_tokens``; and a reply
that only ran into them is unfinished.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import masked, text_known, whole

if TYPE_CHECKING:
    from lab.records import Reply

# A sentence-sized unit four times in a row, or a syllable-sized one sixteen times.
_REPEATS = (re.compile(r"(.{8,80}?)\1{3,}", re.DOTALL), re.compile(r"(.{1,7}?)\1{15,}", re.DOTALL))


LONG = 400  # characters of a repetition that no ordinary text has
AT_THE_END = 64


@detector(rank=24)
def loop(reply: Reply, context: Context) -> str | None:
    """An n-gram repeated in a row, or a known text that ran into ``max_tokens``."""
    if not text_known(reply):
        return _of_a_stranger(reply)
    found = _repetition(whole(reply), 0)
    if found is not None:
        return _said(found)
    if reply.finish_reason == "length":
        return f"ran to the limit of {reply.completion_tokens} tokens"
    return None


def _of_a_stranger(reply: Reply) -> str | None:
    text = whole(reply)
    if reply.finish_reason == "length":
        found = _repetition(text, AT_THE_END, to_the_end=True)
        return f"{_said(found)}, up to the limit" if found else None
    found = _repetition(masked(text), LONG)
    return _said(found) if found else None


def _repetition(text: str, least: int, to_the_end: bool = False) -> re.Match[str] | None:
    for pattern in _REPEATS:
        for found in pattern.finditer(text):
            ends = not to_the_end or len(text) - found.end() < len(found[1])
            if ends and len(found[0]) >= least and any(sign.isalnum() for sign in found[1]):
                return found
    return None


def _said(found: re.Match[str]) -> str:
    return f"{found[1][:40]!r} {len(found[0]) // len(found[1])} times in a row"

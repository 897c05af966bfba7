"""Scripts that no one writer mixes: the look of a model reading noise."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import whole

if TYPE_CHECKING:
    from lab.records import Reply

SCRIPTS = 3
LETTERS = 2  # of a script before it counts: one Greek letter is a unit or a formula
# Japanese and Korean write several scripts in one sentence.
_ONE = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK", "HALFWIDTH": "CJK"}


@detector(rank=28)
def script_mix(reply: Reply, context: Context) -> str | None:
    """Letters of three or more scripts, or bytes that are no UTF-8 among them."""
    seen = Counter(script for script in map(_script, whole(reply)) if script)
    mixed = sorted(script for script, letters in seen.items() if letters >= LETTERS)
    return f"letters of {', '.join(mixed)}" if len(mixed) >= SCRIPTS else None


def _script(sign: str) -> str | None:
    """The script of a letter, by its Unicode name; None for anything but a letter."""
    if sign == "\N{REPLACEMENT CHARACTER}":
        return "broken UTF-8"
    if sign.isascii():
        return "LATIN" if sign.isalpha() else None
    if not sign.isalpha():
        return None
    first = unicodedata.name(sign, "UNNAMED").split()[0]
    return _ONE.get(first, first)

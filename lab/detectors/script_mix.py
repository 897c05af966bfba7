"""Scripts that no one writer mixes: the look of a model reading noise.

Where the text is not known it may be a vocabulary or a formula: there the scripts must meet in one
run of words, with no punctuation, line break or code literal between them, and Greek be a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import masked, text_known, whole

if TYPE_CHECKING:
    from lab.records import Reply

SCRIPTS = 3
LETTERS = 2  # of a script before it counts: one Greek letter is a unit or a formula
# Japanese and Korean write several scripts in one sentence.
_ONE = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK", "HALFWIDTH": "CJK"}


_RUN = re.compile(r"(?:[^\W\d_]|\ufffd)+(?: (?:[^\W\d_]|\ufffd)+)*")
_SYMBOLS = re.compile(r"\b[\u0370-\u03ff]{1,3}\b")  # of a formula


@detector(rank=28)
def script_mix(reply: Reply, context: Context) -> str | None:
    """Letters of three or more scripts, or bytes that are no UTF-8 among them."""
    text = whole(reply)
    runs = [text] if text_known(reply) else _RUN.findall(_SYMBOLS.sub("", masked(text)))
    mixes = (mixed for mixed in map(_scripts, runs) if len(mixed) >= SCRIPTS)
    return next((f"letters of {', '.join(mixed)}" for mixed in mixes), None)


def _scripts(text: str) -> list[str]:
    """The scripts of which the text has letters enough, sorted."""
    seen = Counter(script for script in map(_script, text) if script)
    return sorted(script for script, letters in seen.items() if letters >= LETTERS)


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

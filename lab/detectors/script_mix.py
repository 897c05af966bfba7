"""Scripts that no one writer mixes: the look of a model reading noise.

Where the text is not known it may be a vocabulary, a translation or a formula: there three scripts
must meet in one run of words, with no punctuation, line break or code between them, within a word
or two of them again and again. A language has spaces between its words and another's (Chinese has
none), a list of languages does not come back to two of them, and Greek must be a word. Bytes that
are no UTF-8 count as a script, and are noise by themselves where word after word has them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.literals import masked
from lab.detectors.surface import text_known, whole

if TYPE_CHECKING:
    from lab.records import Reply

SCRIPTS = 3
LETTERS = 2  # of a script before it counts: one Greek letter is a unit or a formula
RETURNS = 3  # to scripts other than Latin, after another one
BROKEN_WORDS = 6
BROKEN = "broken UTF-8"
# Japanese and Korean write several scripts in one sentence.
_ONE = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK", "HALFWIDTH": "CJK"}


_RUN = re.compile(r"(?:[^\W\d_]|\ufffd)+(?: (?:[^\W\d_]|\ufffd)+)*")
_SYMBOLS = re.compile(r"\b[\u0370-\u03ff]{1,3}\b")  # of a formula
_BROKEN_WORD = re.compile(r"[^\W\d_]\ufffd|\ufffd[^\W\d_]")


@detector(rank=28)
def script_mix(reply: Reply, context: Context) -> str | None:
    """Letters of three or more scripts, or bytes that are no UTF-8 among them."""
    text = whole(reply)
    if text_known(reply):
        return _told(_scripts(text))
    text = _letters(_SYMBOLS.sub("", masked(text)))
    if (broken := len(_BROKEN_WORD.findall(text))) >= BROKEN_WORDS:
        return f"{broken} words with bytes that are no UTF-8"
    told = (_told(_scripts(run)) for run in _RUN.findall(text) if _noisy(run))
    return next(filter(None, told), None)


def _told(mixed: list[str]) -> str | None:
    return f"letters of {', '.join(mixed)}" if len(mixed) >= SCRIPTS else None


def _noisy(run: str) -> bool:
    """Whether scripts meet within a word, or a script comes back again and again."""
    words = [list(dict.fromkeys(filter(None, map(_script, word)))) for word in run.split(" ")]
    if any({*word} - {"LATIN", "CJK"} and len(word) > 1 for word in words):
        return True
    order = [script for script, _ in groupby(script for word in words for script in word)]
    back = [it for at, it in enumerate(order) if it in order[:at] and it != "LATIN"]
    return len(back) >= RETURNS and len({*back}) > 1


def _letters(text: str) -> str:
    """Compatibility forms as what they stand for, and no marks, which would part words."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(sign for sign in plain if unicodedata.category(sign)[0] != "M")


def _scripts(text: str) -> list[str]:
    """The scripts of which the text has letters enough, sorted."""
    seen = Counter(script for script in map(_script, text) if script)
    return sorted(script for script, letters in seen.items() if letters >= LETTERS)


def _script(sign: str) -> str | None:
    """The script of a letter, by its Unicode name; None for anything but a letter."""
    if sign == "\N{REPLACEMENT CHARACTER}":
        return BROKEN
    if sign.isascii():
        return "LATIN" if sign.isalpha() else None
    if not sign.isalpha() or unicodedata.category(sign) == "Lm":
        return None
    first = unicodedata.name(sign, "UNNAMED").split()[0]
    return _ONE.get(first, first)

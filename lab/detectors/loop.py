"""Text that goes round, or does not end.

Rulers, dotted leaders and table borders repeat too: a repeated unit must hold a letter or digit.
Where the text is not known, rows of zeros, drawings and equal lines of code are not either: there
a repetition counts where it is long and of words, or runs into ``max_tokens``; data that does so
must be longer still, for a large matrix may be what was asked for. A reply that only ran into them
is unfinished.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.literals import masked
from lab.detectors.surface import text_known, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.records import Reply

# A sentence-sized unit four times in a row, or a syllable-sized one sixteen times.
_REPEATS = (re.compile(r"(.{8,80}?)\1{3,}", re.DOTALL), re.compile(r"(.{1,7}?)\1{15,}", re.DOTALL))


LONG = 400  # characters of a repetition that no ordinary text has
AT_THE_END, DATA_AT_THE_END = 64, 1600
_DATA = re.compile(
    r"[\d|{}\[\]()<>=;#/\\_^~+\t\"]| {3}|[A-Za-z],[A-Za-z]"
)  # signs of tables, code and drawings
_SYLLABLE = re.compile(r"[^\W\d_]{2}")


@detector(rank=24, weakness=True)
def loop(reply: Reply, context: Context) -> str | None:
    """An n-gram repeated in a row, or a known text that ran into ``max_tokens``."""
    if not text_known(reply):
        return _of_a_stranger(reply)
    found = _repetition(whole(reply), lambda found: True)
    if found is not None:
        return _said(found)
    if reply.finish_reason == "length":
        return f"ran to the limit of {reply.completion_tokens} tokens"
    return None


def _of_a_stranger(reply: Reply) -> str | None:
    text = whole(reply)
    if reply.finish_reason == "length":
        found = _repetition(text, lambda found: _runs_on(found, text))
        return f"{_said(found)}, up to the limit" if found else None
    found = _repetition(
        masked(text), lambda found: len(found[0]) >= LONG and _of_words(found[0], found[1])
    )
    return _said(found) if found else None


def _runs_on(found: re.Match[str], text: str) -> bool:
    """Whether the text ends within the repetition, which is longer than one that is asked for."""
    least = AT_THE_END if _of_words(found[0], found[1]) else DATA_AT_THE_END
    return len(text) - found.end() < len(found[1]) and len(found[0]) >= least


def _of_words(whole_run: str, unit: str) -> bool:
    """Whether a unit is of words or syllables: no data, and no drawing of capitals."""
    letters = {sign for sign in unit if sign.isalpha()}
    return (
        len(letters) > 1
        and not unit.isupper()
        and _DATA.search(unit) is None
        and _SYLLABLE.search(whole_run[: 3 * len(unit)]) is not None
    )


def _repetition(text: str, counts: Callable[[re.Match[str]], bool]) -> re.Match[str] | None:
    for pattern in _REPEATS:
        for found in pattern.finditer(text):
            if any(sign.isalnum() for sign in found[1]) and counts(found):
                return found
    return None


def _said(found: re.Match[str]) -> str:
    return f"{found[1][:40]!r} {len(found[0]) // len(found[1])} times in a row"

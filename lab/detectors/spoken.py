"""Markup that a reply speaks of, without code marks, told from markup that leaked.

One rule: who speaks of a tag writes it as a word of a sentence; what leaked stands alone on its
line, at the end of one that is over, or touches what it was written for.
"""

from __future__ import annotations

import re

_WIDE = "\u2e80"  # scripts from here on are written without spaces between words
_WORD = re.compile(r"[^\W\d_]{2,}|[\u2e80-\ufeff]")
_LEAD = re.compile(r"(?:[-*+>#|]|\d+[.)])*$")  # of a list, a heading, a table
_BETWEEN = re.compile(r"(?:,|/|\||[-\u2013\u2014\u2026]|and|or|to|und|et|y|e|\u0438|\u548c)+$")
_NEXT = re.compile(r"\s*(?:[-:=|\u2013\u2014\u2192(]+\s*)?[^\W\d_]")
_DATA = re.compile(r"\s*[\[{<]")
_OVER = tuple(".!?\u3002\uff01\uff1f:")  # a sentence is over, or announces
_STOPS = re.compile(r"[*_)\]\u201d\u2019\"']*(?:'s)?[.,;:!?)|\u3002\uff0c]")
_BARE = re.compile(r"[\W_]*(?:'s|-[^\W\d_]+)?[\W_]*")
_JSON = re.compile(r"[{}]|\":")
FEW = 2  # words of a phrase


def spoken(text: str, start: int, end: int, marker: re.Pattern[str]) -> bool:
    """Whether ``text[start:end]``, which ``marker`` found, is a word of a sentence."""
    left, right = _run(text, start, end)
    rest = marker.sub("", text[left:right])
    if _JSON.search(rest) or not _BARE.fullmatch(rest):
        return False
    first = text.rfind("\n", 0, left) + 1
    last = text.find("\n", right)
    before, after = text[first:left], text[right : last if last >= 0 else len(text)]
    return _quoted(before, after) or _said(before, text[end:right], after, marker)


def _run(text: str, start: int, end: int) -> tuple[int, int]:
    """What touches the markup, without a space or a letter of a script that has none between."""
    while start and not _parts(text[start - 1]):
        start -= 1
    while end < len(text) and not _parts(text[end]):
        end += 1
    return start, end


def _parts(sign: str) -> bool:
    return sign.isspace() or sign >= _WIDE


def _quoted(before: str, after: str) -> bool:
    return before.count('"') % 2 == 1 and '"' in after


def _said(before: str, touching: str, after: str, marker: re.Pattern[str]) -> bool:
    """Whether the line goes on as a sentence does, or the markup is the end of one."""
    if _DATA.match(after) and not marker.match(after.lstrip()):
        return False
    following = marker.search(after)
    between = after[: following.start()].strip(" *_") if following else ""
    goes_on = bool(_NEXT.match(after)) or bool(following and _BETWEEN.match(between))
    words = len(_WORD.findall(marker.sub("", after)))
    lead = marker.sub("", before).replace(" ", "")
    alone = following and not _BETWEEN.match(between) and len(_WORD.findall(between)) < FEW
    if alone and _LEAD.match(lead):
        return False  # a header: `<|channel|> analysis <|message|>`
    if _LEAD.match(lead) or before.rstrip().endswith(_OVER):
        return goes_on and words > 1
    return (goes_on and words > 0) or bool(_STOPS.match(touching + after.lstrip()))

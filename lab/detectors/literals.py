"""Code in a reply: fenced, indented, inline, or HTML's. One rule: what stands in it is speech.

A fence that is not closed runs to the end, as in CommonMark; one of four signs holds one of three.
"""

from __future__ import annotations

import re

_FENCED = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_INDENTED = re.compile(r"(?:\A|(?<=\n)[ \t]*\n)(?:(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n)+")
_INLINE = re.compile(r"```.*?```|~~~.*?~~~|``[^\n]*?``|`[^`\n]*`", re.DOTALL)
_HTML = re.compile(r"<(pre|code)\b[^>\n]*>.*?</\1>", re.DOTALL | re.IGNORECASE)
_SIGN = re.compile(r"[^\n]")


def masked(text: str) -> str:
    """``text`` with its code blanked out: the same length, the same lines."""
    for literal in (_FENCED, _INDENTED, _INLINE, _HTML):
        text = literal.sub(lambda found: _SIGN.sub(" ", found[0]), text)
    return text

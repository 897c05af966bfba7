"""Markup that is no markup: misspelt, truncated, unbalanced or nested in the wrong order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import END_THINK, MARKER, THINK, excerpt, masked, text_known, whole

if TYPE_CHECKING:
    from lab.records import Reply

_TAG = re.compile(
    r"<｜DSML｜tool_calls>"
    r'|<｜DSML｜invoke name="[^"<>\n]+">'
    r'|<｜DSML｜parameter name="[^"<>\n]+" string="(?:true|false)">'
    r"|</｜DSML｜(?:tool_calls|invoke|parameter)>"
)
_BARE = re.compile(
    r"</?(?:tool_calls|invoke|parameter)\b[^>\n]{0,80}>?"
)  # the token itself is lost
_BARE_CALL = re.compile(r"</?(?:tool_calls|invoke)\b[^>\n]{0,80}>?")  # <parameter> is XML's too
_NAME = re.compile(r"tool_calls|invoke|parameter")
_PARENT = {"tool_calls": None, "invoke": "tool_calls", "parameter": "invoke"}


@detector(rank=26)
def tag_salad(reply: Reply, context: Context) -> str | None:
    """A DSML or think tag that is not spelt, closed or nested as the format has it."""
    text = masked(whole(reply))
    return (
        _misspelt(text, _BARE if text_known(reply) else _BARE_CALL)
        or _unbalanced(text)
        or _thought(text)
    )


def _misspelt(text: str, bare_tag: re.Pattern[str]) -> str | None:
    tags = [found.span() for found in _TAG.finditer(text)]
    for found in MARKER.finditer(text):
        if not any(start <= found.start() < end for start, end in tags):
            return "no tag of the format: " + excerpt(text, found.start())
    bare = bare_tag.search(text)
    return "a tag without its marker: " + excerpt(text, bare.start()) if bare else None


def _unbalanced(text: str) -> str | None:
    opened: list[str] = []
    for found in _TAG.finditer(text):
        tag = found[0]
        named = _NAME.search(tag)
        assert named is not None
        name = named[0]
        if tag.startswith("</"):
            if not opened or opened.pop() != name:
                return f"{tag} closes nothing"
        elif (opened[-1] if opened else None) != _PARENT[name]:
            return f"{tag[:40]} inside {opened[-1] if opened else 'no block'}"
        else:
            opened.append(name)
    return f"{opened[-1]} is never closed" if opened else None


def _thought(text: str) -> str | None:
    """A thought left open, or opened again. Only raw text shows its tags."""
    opens, ends = text.count(THINK), text.count(END_THINK)
    if opens > 1:
        return f"{THINK} {opens} times"
    return f"{THINK} {opens} times, {END_THINK} {ends} times" if opens > ends else None

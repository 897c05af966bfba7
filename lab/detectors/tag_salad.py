"""Markup that is no markup: misspelt, truncated, unbalanced or nested in the wrong order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import (
    DSML,
    END_THINK,
    THINK,
    excerpt,
    meant,
    prose,
    shows_thought,
    text_known,
    was_cut,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
_THOUGHT = re.compile("</?think>")
_PARENT = {"tool_calls": None, "invoke": "tool_calls", "parameter": "invoke"}


@detector(rank=26, weakness=True)
def tag_salad(reply: Reply, context: Context) -> str | None:
    """A DSML or think tag that is not spelt, closed or nested as the format has it. Of an unknown
    text one that was cut is no evidence, nor are the tags of a thought that nobody parsed.
    """
    if was_cut(reply) and not text_known(reply):
        return None
    text = prose(reply)
    thought = [] if shows_thought(reply) else [it[0] for it in meant(reply, text, _THOUGHT)]
    return (
        _misspelt(reply, text)
        or _unbalanced(found[0] for found in meant(reply, text, _TAG))
        or _thought(thought)
    )


def _misspelt(reply: Reply, text: str) -> str | None:
    tags = [found.span() for found in _TAG.finditer(text)]
    for found in meant(reply, text, DSML):
        if not any(start <= found.start() < end for start, end in tags):
            return "no tag of the format: " + excerpt(text, found.start())
    bare = next(meant(reply, text, _BARE if text_known(reply) else _BARE_CALL), None)
    return "a tag without its marker: " + excerpt(text, bare.start()) if bare else None


def _unbalanced(tags: Iterable[str]) -> str | None:
    opened: list[str] = []
    for tag in tags:
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


def _thought(tags: Sequence[str]) -> str | None:
    """A thought left open, or opened again. Only raw text shows its tags."""
    opens, ends = tags.count(THINK), tags.count(END_THINK)
    if opens > 1:
        return f"{THINK} {opens} times"
    return f"{THINK} {opens} times, {END_THINK} {ends} times" if opens > ends else None

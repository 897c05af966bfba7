"""A call that was due, or that the reply or its end announces, and that is not made.

Where the text is not known, an announcement is an intent that the user reads ("I will now call
x"): offers, questions and thoughts of a real model mention tools all the time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import text_known, visible, was_cut

if TYPE_CHECKING:
    from lab.records import Reply

_VERB = r"\b(?:call|calling|invoke|invoking|use|using|run|running)\b"
_DENIED = re.compile(r"\b(?:not|never|cannot|can't|don't|won't|without|no need)\b[^.\n]{0,30}$")
_I_WILL = "I will now|I'll now|I am now|I'm now|now I will|now I'll|let me"
_INTENT = re.compile(rf"\b(?:{_I_WILL})\b[^\n]{{0,40}}$", re.I)
_CONDITION = re.compile(r"\b(?:if|once|when|after|unless|whether|until|would)\b|\?$", re.I)
_SENTENCE = re.compile(r"[^.!?\n]*[.!?]?")


@detector(rank=30)
def dropped_call(reply: Reply, context: Context) -> str | None:
    """No call at all: though the prompt determines one, the end says so, or a tool was named as
    about to be called.
    """
    if reply.tool_calls or was_cut(reply):
        return None
    if not text_known(reply) and reply.finish_reason == "tool_calls":
        return "finish_reason tool_calls, and no call"
    if not text_known(reply) and reply.expected_call:
        return f"calls nothing instead of {reply.expected_call['name']}"
    said = _announced(reply, context)
    return f"announces {said!r} and calls nothing" if said else None


def _announced(reply: Reply, context: Context) -> str | None:
    known = text_known(reply)
    text = f"{reply.reasoning or ''}\n{visible(reply)}" if known else visible(reply)
    for name in context.tools:
        for found in re.finditer(rf"{_VERB}[^.\n]{{0,30}}\b{re.escape(name)}\b", text, re.I):
            if not _DENIED.search(text[: found.start()]) and (known or _meant(text, found.start())):
                return found[0]
    return None


def _meant(text: str, at: int) -> bool:
    """Whether the sentence around ``at`` says that its speaker does it now."""
    start = max(text.rfind(end, 0, at) for end in ".!?\n") + 1
    sentence = _SENTENCE.match(text, start)
    assert sentence is not None  # it may be empty
    said = bool(_INTENT.search(text[start:at].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))
    return said and not _CONDITION.search(sentence[0])

"""A call that was due, or that the reply or its end announces, and that is not made.

Where the text is not known, an announcement is an intent with which the reply ends ("I will now
call x"): offers, questions and thoughts of a real model mention tools all the time, and who has
told what he looks up goes on with what he found. A tool whose name is a plain word must be called
a tool, or be called like one: "use the search results" is prose.
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
_CONDITION = re.compile(
    r"\b(?:if|once|when|whenever|after|unless|whether|until|would|could|how|what|why|above)\b"
    r"|\blet me (?:know|explain|show|walk|describe|summari[sz]e)\b|\?$",
    re.I,
)
_SENTENCE = re.compile(r"[^.!?\n]*[.!?]?")
_PLAIN = re.compile(r"[a-z]+|[A-Z][a-z]*")
_CALLED = r"(?:\(|['\"]?\s+(?:tool|function|api|endpoint)\b)"
AFTERWARDS = 80  # characters after an announcement with which a reply still ends


@detector(rank=30, weakness=True)
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
        called = _CALLED if not known and _PLAIN.fullmatch(name) else ""
        said = rf"{_VERB}[^.\n]{{0,30}}\b{re.escape(name)}\b{called}"
        for found in re.finditer(said, text, re.I):
            if not _DENIED.search(text[: found.start()]) and (known or _meant(text, found.start())):
                return found[0]
    return None


def _meant(text: str, at: int) -> bool:
    """Whether the sentence around ``at`` says that its speaker does it now, and is the last."""
    start = max(text.rfind(end, 0, at) for end in ".!?\n") + 1
    sentence = _SENTENCE.match(text, start)
    assert sentence is not None  # it may be empty
    said = bool(_INTENT.search(text[start:at].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))
    last = len(text[sentence.end() :].strip()) <= AFTERWARDS
    return said and last and not _CONDITION.search(sentence[0])

"""The surfaces of a reply that detectors read. One rule: a reply may speak of markup.

What stands in code is speech, and so is, where the right text is not known, what is a word of a
sentence; production's detector masks code for the same reason.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from lab.detectors.literals import masked
from lab.detectors.spoken import spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lab.records import Reply

# U+FF5C is DSML's own bar; damaged and look-alike replies show it doubled, as U+2016, or as ASCII.
BARS = "[｜‖|]{1,2}"
MARKER = re.compile(rf"{BARS}\s*DSML\s*{BARS}")
DSML = re.compile(
    rf"</?{BARS}\s*DSML\s*{BARS}(?:tool_calls|invoke|parameter)?"
    rf'(?: name="[^"\n]*")?(?: string="(?:true|false)")?>|{MARKER.pattern}'
)
ABORT = "abort"
# Reasons of a reply that ended by itself, as servers spell them; any other is somebody else's.
BY_ITSELF = (None, "stop", "tool_calls", "function_call", "eos", "eos_token", "end_turn")
THINK, END_THINK = "<think>", "</think>"
_OVER = tuple(".!?:)\n\u3002\uff01\uff1f")  # with which a thought's last sentence is over
_QUOTES = "\"'\u2018\u201c\u201e\u00ab"  # that open a quotation, straight or not


def visible(reply: Reply) -> str:
    """What a chat window would show, code masked."""
    return masked(reply.content or "")


def markers(*tags: str) -> re.Pattern[str]:
    """Finds any of these regular expressions, but where it follows a quotation mark: that is
    speech as well, and no parser was ever fooled by it.
    """
    return re.compile(rf"(?<![{_QUOTES}])(?:{'|'.join(tags)})")


def leaked(reply: Reply, marker: re.Pattern[str], what: str) -> str | None:
    """Where ``marker`` stands in the visible text of a reply that ended by itself."""
    text = visible(reply)
    found = next(meant(reply, text, marker), None)
    if found is None or was_cut(reply):
        return None
    where = excerpt(text, found.start())
    return f"{what} in the content, finish_reason {reply.finish_reason}: {where}"


def meant(reply: Reply, text: str, marker: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Each ``marker`` in a text of the reply; of an unknown one those that it does not speak of."""
    for found in marker.finditer(text):
        if text_known(reply) or not spoken(text, *found.span(), marker):
            yield found


def prose(reply: Reply) -> str:
    """What a reply says, code masked: all of it where it is known, else without its calls, whose
    arguments may be a file in any format.
    """
    if text_known(reply):
        return masked(whole(reply))
    parts = [reply.reasoning or "", reply.content or ""]
    return masked("\n".join(parts) if reply.raw_text is None else reply.raw_text)


def whole(reply: Reply) -> str:
    """The raw text; where the target does not tell it, what was parsed, put together."""
    if reply.raw_text is not None:
        return reply.raw_text
    parts = [reply.reasoning or "", reply.content or ""]
    parts += [f"{name} {arguments}" for name, arguments in calls(reply)]
    return "\n".join(part for part in parts if part)


def text_known(reply: Reply) -> bool:
    """Whether it is known what the reply had to say: of a stranger's model it is not."""
    return bool(reply.expected_text)


def shows_thought(reply: Reply) -> bool:
    """Whether an unknown text shows the model's thought: its server was told no reasoning parser.

    A thought opens the text; of some templates the prompt opens it, so that only its end is there,
    behind a sentence that is over or before a new line.
    """
    if text_known(reply) or reply.reasoning is not None:
        return False
    text = visible(reply)
    if text.lstrip().startswith(THINK):
        return True
    if THINK in text or text.count(END_THINK) != 1:
        return False
    before, after = text.split(END_THINK)
    ended = after[:1] == "\n" or (bool(after.strip()) and before.rstrip().endswith(_OVER))
    return bool(before.strip()) and ended


def was_cut(reply: Reply) -> bool:
    """Whether the reply did not end by itself: its limit did, a filter, or the server."""
    return reply.finish_reason not in BY_ITSELF


def finished(reply: Reply) -> bool:
    """Whether a reply came whole, or up to its own limit: the server did not abort it."""
    return reply.status == "ok" and reply.finish_reason != ABORT


def calls(reply: Reply) -> list[tuple[str, str]]:
    """Name and arguments text of each call received, as OpenAI's shape holds them."""
    functions = [call.get("function") or {} for call in reply.tool_calls]
    return [(str(f.get("name")), _text(f.get("arguments"))) for f in functions]


def arguments_of(text: str) -> dict[str, object]:
    """The object that arguments spell; raises ``ValueError`` for anything else."""
    value = json.loads(text, object_pairs_hook=_once)
    if not isinstance(value, dict):
        raise ValueError(f"{type(value).__name__} instead of an object")
    return value


def readable(made: Iterable[tuple[str, str]]) -> list[tuple[str, object]]:
    """Calls with their arguments read, so that the spelling of JSON does not matter."""
    read: list[tuple[str, object]] = []
    for name, text in made:
        try:
            read.append((name, arguments_of(text)))
        except ValueError:
            read.append((name, text))
    return read


def excerpt(text: str, at: int = 0, length: int = 40) -> str:
    """A quoted piece of ``text`` around ``at``."""
    start = max(0, at - 10)
    return repr(text[start : start + length])


def first_difference(a: str, b: str) -> int:
    """Where two texts part: the shorter one's length if it is the other's start."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (x, y) in pairs if x != y), min(len(a), len(b)))


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """JSON allows a repeated name; a call that says one thing twice is damaged."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("an argument is given twice")
    return dict(pairs)

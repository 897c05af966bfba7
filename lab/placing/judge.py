"""The first wrong byte of a known reply, and what it should have been read from.

One rule: it adds to what a detector found, and finds nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from engine.text.tokenizer import EOS, encode
from lab.placing.places import Text
from lab.placing.shown import TEXTS, Conversations
from lab.placing.words import Known, made_anew, placed

if TYPE_CHECKING:
    from lab.placing.places import Place
    from lab.records import ArmHistory, Finding, Reply

DETECTOR = "wrong_text"  # whose findings are added to
ANEW = "what came is what this turn's own reference makes, where that token is not found"


@dataclass(frozen=True)
class Lost:
    """Where a reply left what was due: the place that its first wrong token should come from."""

    text: Text
    place: Place
    said: str

    def reads(self, computed: int) -> list[range]:
        """What the first wrong token is made of, once ``computed`` rows are there."""
        rows = [self.text.rows(at, computed) for at in self.place.sources]
        return [range(*self.place.window), *(it for some in rows for it in some)]


class Places:
    """The places of an arm's wrong replies; an arm that does not tell its texts has none."""

    def __init__(self, history: ArmHistory) -> None:
        self._history = history
        self._shown = Conversations(history)
        self.told = any(kind == TEXTS for _, kind, _ in history.events)

    def lost(self, reply: Reply) -> Lost | None:
        """Where the reply went wrong; None where it did not, or its prompt is not known."""
        if not self.told or reply.raw_text in (None, reply.expected_text) or not reply.raw_text:
            return None
        context = self._shown.prompt(reply)
        if context is None or not reply.expected_text:
            return None
        due, got = ids_of(reply.expected_text), ids_of(reply.raw_text)
        pairs = enumerate(zip(due, got, strict=False))
        index = next((at for at, (one, other) in pairs if one != other), min(len(due), len(got)))
        if index >= len(due):  # the right text, and more
            return None
        text, wrong = Text(context.ids, due), got[index] if index < len(got) else None
        place = text.place(index)
        said = placed(place, context, reply, self._known)
        if wrong is not None and made_anew(place, context, due, wrong):
            said += f"; {ANEW}"
        return Lost(text, place, said)

    @cached_property
    def _known(self) -> Known:
        return Known(self._history, self._shown.replies)


def located(history: ArmHistory, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, those of wrong texts with the place that was due at their first wrong token."""
    places = Places(history)
    if not places.told:
        return list(findings)
    replies = {(it.session, it.turn): it for it in history.replies}
    return [_located(found, places, replies[found.session, found.turn]) for found in findings]


def ids_of(text: str) -> list[int]:
    """A whole reply as tokens, with its end."""
    return [*encode(text.encode("utf-8", "backslashreplace").decode("utf-8")), EOS]


def _located(found: Finding, places: Places, reply: Reply) -> Finding:
    if found.detector != DETECTOR or found.outcome != "fail":
        return found
    lost = places.lost(reply)
    return found if lost is None else replace(found, detail=f"{found.detail}; {lost.said}")

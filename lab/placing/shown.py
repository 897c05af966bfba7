"""What the probe was shown, token by token, read back from a stored history.

One rule: the texts of a session are events of its arm, and its earlier replies are echoed as they
came, so whoever judges needs no plan and no server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from engine.text.tokenizer import ASSISTANT, BOS, EOS, USER, encode

if TYPE_CHECKING:
    from engine.events import EventLog
    from lab.records import ArmHistory, Reply, SessionPlan

TEXTS = "texts_planned"  # the event of a session whose texts are told
MANUAL, TURN, REPLY = "manual", "turn", "reply"


@dataclass(frozen=True)
class Part:
    """Tokens ``start`` to ``end``, half-open: the manual, what turn ``turn`` asks, or its reply."""

    kind: str
    turn: int
    start: int
    end: int


@dataclass(frozen=True)
class Context:
    """A prompt as its tokens, and what each stretch of them is."""

    ids: tuple[int, ...]
    parts: tuple[Part, ...]

    def part(self, at: int) -> Part:
        """The part that holds the token ``at``."""
        return next(part for part in self.parts if part.start <= at < part.end)


def tell(plan: SessionPlan, events: EventLog) -> None:
    """Write what the session will be shown into the history, its replies apart."""
    asked = ["".join(m["content"] for m in turn.prompt_messages) for turn in plan.turns]
    events.emit(TEXTS, session=plan.index, system=plan.system, asked=json.dumps(asked))


class Conversations:
    """The prompts of an arm; those of a load that does not tell its texts are None."""

    def __init__(self, history: ArmHistory) -> None:
        self._history = history

    def prompt(self, reply: Reply) -> Context | None:
        """What stood before the reply; None where it, or a reply before it, is not known."""
        texts = self._texts.get(reply.session)
        earlier = [self.replies.get((reply.session, turn)) for turn in range(reply.turn)]
        said = [it.raw_text for it in earlier if it is not None and it.raw_text is not None]
        if texts is None or len(said) < reply.turn:
            return None
        asked: Sequence[str] = json.loads(texts["asked"])
        return context(texts["system"], asked[: reply.turn + 1], said)

    @cached_property
    def replies(self) -> Mapping[tuple[int, int], Reply]:
        """The arm's replies by session and turn."""
        return {(it.session, it.turn): it for it in self._history.replies}

    @cached_property
    def _texts(self) -> Mapping[int, Mapping[str, Any]]:
        return {it["session"]: it for _, kind, it in self._history.events if kind == TEXTS}


def context(system: str, asked: Sequence[str], said: Sequence[str]) -> Context:
    """The prompt of the last of ``asked``, before which each turn was answered as ``said``."""
    ids = [BOS, *encode(system)]
    parts = [Part(MANUAL, -1, 0, len(ids))]

    def add(kind: str, turn: int, tokens: Sequence[int]) -> None:
        parts.append(Part(kind, turn, len(ids), len(ids) + len(tokens)))
        ids.extend(tokens)

    for turn, text in enumerate(asked):
        add(TURN, turn, [USER, *encode(text, specials=False), ASSISTANT])
        if turn < len(said):
            add(REPLY, turn, [*encode(said[turn]), EOS])
    return Context(tuple(ids), tuple(parts))

"""A conversation of the probe as token ids, and where in it the model speaks.

One rule: it is what a server renders with the folder's chat template, due replies included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.text.template import render
from engine.text.tokenizer import ASSISTANT, EOS
from lab.workloads import resolve

if TYPE_CHECKING:
    from lab.records import SessionPlan

ENTRIES, LOAD = 4, {"sessions": 1, "turns": 4, "shared_entries": 0}


@dataclass(frozen=True)
class Conversation:
    """``ids`` of the whole text; ``said`` are the places of the replies' tokens, EOS included."""

    ids: tuple[int, ...]
    said: tuple[int, ...]


def conversation(seed: int, context: int) -> Conversation:
    """One session of half repeats, about 3,000 tokens; fewer entries and turns where those do not
    fit, and nothing where not even one does.
    """
    found = Conversation((), ())
    for entries in range(ENTRIES, 0, -1):
        load = LOAD | {"entries": entries, "repeats": 0.5 if entries > 1 else 1.0}
        [plan] = resolve("probe_sessions", "small", load).plan(seed)
        found = whole(plan, context)
        if found.said:
            break
    return found


def whole(plan: SessionPlan, context: int = 10**9) -> Conversation:
    """A plan's messages with their due replies, as many turns as ``context`` has room for."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": plan.system}]
    ids: Sequence[int] = ()
    said: list[int] = []
    for turn in plan.turns:
        messages += turn.prompt_messages
        begins = len(render(messages))
        messages.append({"role": "assistant", "content": turn.expected_text})
        longer = render(messages)[:-1]  # no further reply is asked for
        if len(longer) > context:
            break
        assert longer[begins - 1] == ASSISTANT and longer[-1] == EOS
        ids = longer
        said += range(begins, len(longer))
    return Conversation(tuple(ids), tuple(said))

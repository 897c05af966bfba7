"""The plan, written into the history before anything is sent, and read back by the judges.

One rule: judging needs nothing but the stored history, so what a detector must know of the plan
(who may say which word, which tools were offered) is the history's first events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lab.detectors import Context
from lab.detectors.surface import finished, whole
from lab.placing.shown import tell
from lab.records import Repeat

if TYPE_CHECKING:
    from engine.events import EventLog
    from lab.records import ArmHistory, SessionPlan

Events = Sequence[tuple[int, str, dict[str, Any]]]
_WORD = re.compile(r"\b[A-Z0-9]{8,}\b")  # keys, values and references; prose has none


def announce(plans: Sequence[SessionPlan], events: EventLog) -> None:
    """Emit what the judges must know of the plans."""
    offered: list[str] = []
    for plan in plans:
        tools = json.dumps(plan.tools, sort_keys=True)
        if tools not in offered:
            offered.append(tools)
            events.emit("tools_offered", tools=tools)
    groups: list[int] = []
    for plan in plans:
        if plan.group not in groups:
            groups.append(plan.group)
            events.emit("group_planned", group=plan.group, words=" ".join(_common(plan)))
        words = " ".join(plan.secrets)
        events.emit("session_planned", session=plan.index, group=plan.group, words=words)
        if plan.raw:
            tell(plan, events)
        if (again := plan.repeats) is not None:
            events.emit("repeat_planned", session=plan.index, of=again.of, phase=again.phase)


def context_of(events: Events, twin: dict[tuple[int, int], str] | None = None) -> Context:
    """The detectors' context; ``twin`` holds the texts of an arm that must be this one's equal."""
    tools: dict[str, Any] = {}
    owning: dict[str, list[int]] = {}
    members: dict[int, list[int]] = {}
    common: dict[int, list[str]] = {}
    for _, kind, fields in events:
        if kind == "tools_offered":
            tools |= {t["function"]["name"]: t["function"] for t in json.loads(fields["tools"])}
        elif kind == "group_planned":
            common[fields["group"]] = fields["words"].split()
        elif kind == "session_planned":
            members.setdefault(fields["group"], []).append(fields["session"])
            for word in fields["words"].split():
                owning.setdefault(word, []).append(fields["session"])
    owners = {word: tuple(sessions) for word, sessions in owning.items()}
    for group, words in common.items():
        owners |= dict.fromkeys(words, tuple(members[group]))
    schemas = {name: function.get("parameters") or {} for name, function in tools.items()}
    again = asked_again(events)
    return Context(tools=schemas, owners=owners, twin=twin or {}, asked_again=again)


def asked_again(events: Events) -> dict[int, Repeat]:
    """Whose question each session asks, and when, in a load that asks the same again."""
    return {
        fields["session"]: Repeat(fields["of"], fields["phase"])
        for _, kind, fields in events
        if kind == "repeat_planned"
    }


def first_replies(history: ArmHistory) -> dict[tuple[int, int], str]:
    """For each turn whose question was asked before: the text of the first reply to it."""
    said = {(it.session, it.turn): whole(it) for it in history.replies if finished(it)}
    return {
        (session, turn): said[again.of, turn]
        for session, again in asked_again(history.events).items()
        for turn in range(1 + max((it.turn for it in history.replies), default=-1))
        if (again.of, turn) in said
    }


def _common(plan: SessionPlan) -> list[str]:
    """The words of a session's manual that its whole group may say, in order."""
    own = frozenset(plan.secrets)
    return list(dict.fromkeys(word for word in _WORD.findall(plan.system) if word not in own))

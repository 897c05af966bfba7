"""The plan, written into the history before anything is sent, and read back by the judges.

One rule: judging needs nothing but the stored history, so what a detector must know of the plan
(who may say which word, which tools were offered) is the history's first events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lab.detectors import Context

if TYPE_CHECKING:
    from engine.events import EventLog
    from lab.records import SessionPlan

Events = Iterable[tuple[int, str, dict[str, Any]]]
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


def context_of(events: Events, twin: dict[tuple[int, int], str] | None = None) -> Context:
    """The detectors' context; ``twin`` holds the texts of an arm that must be this one's equal."""
    tools: dict[str, Any] = {}
    owners: dict[str, tuple[int, ...]] = {}
    members: dict[int, list[int]] = {}
    common: dict[int, list[str]] = {}
    for _, kind, fields in events:
        if kind == "tools_offered":
            tools |= {t["function"]["name"]: t["function"] for t in json.loads(fields["tools"])}
        elif kind == "group_planned":
            common[fields["group"]] = fields["words"].split()
        elif kind == "session_planned":
            members.setdefault(fields["group"], []).append(fields["session"])
            owners |= dict.fromkeys(fields["words"].split(), (fields["session"],))
    for group, words in common.items():
        owners |= dict.fromkeys(words, tuple(members[group]))
    schemas = {name: function.get("parameters") or {} for name, function in tools.items()}
    return Context(tools=schemas, owners=owners, twin=twin or {})


def _common(plan: SessionPlan) -> list[str]:
    """The words of a session's manual that its whole group may say, in order."""
    own = frozenset(plan.secrets)
    return list(dict.fromkeys(word for word in _WORD.findall(plan.system) if word not in own))

"""Sessions over tools of real kinds whose every call the prompt determines.

A system prompt holds records, shared by a group and the session's own; a turn names a tool and all
of its arguments, some spelled out and some by the record whose code they are, so that what was read
long ago is needed now. One rule: the due call is known whatever the model. A weak model will miss
some: what counts is its rate beside that of an arm at concurrency 1, not the rate alone.

By a manual, for the bundled model, the sessions are those of ``tool_sessions`` with public tools.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from pydantic import Field

from lab.errors import UserError
from lab.records import SessionPlan
from lab.workloads.arguments import arguments, askable
from lab.workloads.arrivals import arrivals, pauses
from lab.workloads.base import WORKLOADS
from lab.workloads.manuals import Words
from lab.workloads.natural import NATURAL_ONLY, PLAIN, Form, code, due
from lab.workloads.public import manual_tools, more_tokens, some_tools
from lab.workloads.schemas import SHIPPED, Tool, no_folder, read_tools
from lab.workloads.sharing import BESIDE, ManualSessions

if TYPE_CHECKING:
    from lab.records import TurnPlan

INTRODUCTION = (
    "You work with tools. Each request names one tool and all of its arguments. Make exactly that "
    "one call, copy every value letter by letter, add no other argument, and do not ask back. "
    "Where a value reads {{record NAME}}, put the code of that record in its place.\n# Records\n"
)
RECORD_TOKENS, TOOL_TOKENS, ASKED_TOKENS = 24, 400, 400  # at most, about


@dataclass(frozen=True)
class Group:
    """What the sessions of a group have in common: tools, and the records that come first."""

    tools: tuple[Tool, ...]
    records: dict[str, str]  # name -> code

    @property
    def asked(self) -> list[Tool]:
        """The tools of which a call can be determined."""
        return [tool for tool in self.tools if askable(tool["function"]["parameters"])]


@WORKLOADS.register("tool_tasks")
class ToolTasks(ManualSessions):
    """Parameters of the load. Session i belongs to group i modulo ``groups``.

    ``data`` is a folder of tool schemas, or those that ship. Entries are a manual's; ``offered``,
    records and ``lookup`` are of requests in plain words.
    """

    form: Form = "natural"
    data: str = SHIPPED
    groups: int = Field(default=6, ge=1)
    offered: int = Field(default=8, ge=1, le=128)
    shared_records: int = Field(default=80, ge=0, le=10_000)
    private_records: int = Field(default=40, ge=0, le=10_000)
    lookup: float = Field(default=0.5, ge=0, le=1)

    def plan(self, seed: int) -> list[SessionPlan]:
        """The sessions; equal parameters, schemas and seeds give equal plans."""
        plans = self._by_manual(seed) if self.by_manual else self._in_plain_words(seed)
        starts = arrivals(seed, self.sessions, self.arrival_rate)
        return [replace(it, start_s=at) for it, at in zip(plans, starts, strict=True)]

    @property
    def by_manual(self) -> bool:
        """Whether it is the bundled model that is asked."""
        return self.form == "manual"

    def longest_context(self) -> int:
        """Tokens: as for any manual; in plain words about, since vocabularies differ."""
        if self.by_manual:
            return super().longest_context() + more_tokens()
        records = (self.shared_records + self.private_records) * RECORD_TOKENS
        turns = self.turns * (self.max_tokens + ASKED_TOKENS)
        return records + self.offered * TOOL_TOKENS + turns

    def least_topk(self) -> int:
        """As few tools fit a manual, most of its entries look alike: two groups for each place."""
        return 2 * (self.entries + self.turns - 1) + BESIDE

    def lacks(self) -> str:
        """A folder of tools, where there is none."""
        return no_folder(self.data)

    def beyond_bundled(self) -> str:
        """Plain words are."""
        return "" if self.by_manual else NATURAL_ONLY

    def _by_manual(self, seed: int) -> list[SessionPlan]:
        """Sessions of a group share tools and the first entries of their manual."""
        words, known, groups = Words(), manual_tools(self.data), []
        for group in range(min(self.groups, self.sessions)):
            rng = Random(f"{seed}/group/{group}")
            tools, functions = some_tools(rng, known)
            its = replace(words, functions=functions)
            groups.append((tools, its, its.entries(rng, self.shared_entries)))
        plans = []
        for index in range(self.sessions):
            tools, its, shared = groups[index % self.groups]
            plan = self._session(seed, index, index % self.groups, shared, its)
            plans.append(replace(plan, tools=tools))
        return plans

    def _in_plain_words(self, seed: int) -> list[SessionPlan]:
        words = Words()
        groups = self._groups(seed, words)
        numbers = [index % self.groups for index in range(self.sessions)]
        return [self._task(seed, i, n, groups[n], words) for i, n in enumerate(numbers)]

    def _groups(self, seed: int, words: Words) -> list[Group]:
        """Of each group's tools at least every other one can be asked for."""
        every = read_tools(self.data)
        known = [tool for tool in every if askable(tool["function"]["parameters"])]
        if not known:
            raise UserError(f"workload.data: no tool in {self.data} takes free text")
        groups = []
        for group in range(self.groups):
            rng = Random(f"{seed}/group/{group}")
            tools = rng.sample(known, min(-(-self.offered // 2), len(known)))
            rest = [tool for tool in every if tool not in tools]
            tools += rng.sample(rest, min(self.offered - len(tools), len(rest)))
            rng.shuffle(tools)
            groups.append(Group(tuple(tools), _records(rng, self.shared_records, words)))
        return groups

    def _task(self, seed: int, index: int, number: int, group: Group, words: Words) -> SessionPlan:
        rng = Random(f"{seed}/session/{index}")
        own = _records(rng, self.private_records, words, group.records)
        records = group.records | own
        secrets = list(own.values())
        turns = [self._turn(rng, group.asked, records, secrets, words) for _ in range(self.turns)]
        lines = "".join(f"- {name}: {it}\n" for name, it in records.items())
        return SessionPlan(
            index=index,
            group=number,
            system=INTRODUCTION + lines,
            tools=group.tools,
            turns=tuple(turns),
            secrets=tuple(secrets),
            start_s=0.0,
            think_s=pauses(seed, index, self.turns, self.think_s),
        )

    def _turn(
        self,
        rng: Random,
        asked: Sequence[Tool],
        records: dict[str, str],
        secrets: list[str],
        words: Words,
    ) -> TurnPlan:
        """One turn; the words that it spells out become secrets of the session."""
        function = rng.choice(asked)["function"]
        names: dict[str, str] = {}  # the code of a record -> how the request names it

        def text() -> str:
            if records and rng.random() < self.lookup:
                name = rng.choice(list(records))
                names[records[name]] = f"{{{{record {name}}}}}"
                return records[name]
            secrets.append(code(rng, words))
            return secrets[-1]

        wanted = arguments(rng, function["parameters"], text)
        secrets.append(code(rng, words))
        said = request(rng, function["name"], _named(wanted, names))
        return due(said, function["name"], wanted, ref=secrets[-1])


def request(rng: Random, name: str, given: dict[str, Any]) -> str:
    """The request for one call, in one of several forms; it says the name and every argument."""
    whole = json.dumps(given)
    lines = "".join(f"\n- {key}: {json.dumps(it)}" for key, it in given.items())
    call = json.dumps({"name": name, "arguments": given})
    forms = (
        f"Call {name} with exactly these arguments: {whole}",
        f"Please use the {name} tool now. Its arguments, as JSON: {whole}. Change nothing in them.",
        f"Run {name} with these values, none left out and none added:{lines}",
        f"Next step. Tool: {name}. Values, to be taken as they are:{lines}",
        f"Make this one call for me: {call}",
    )
    return rng.choice(forms)


def _named(given: Any, names: dict[str, str]) -> Any:
    """The arguments as the request gives them: a record's code by the record's name."""
    if isinstance(given, dict):
        return {key: _named(it, names) for key, it in given.items()}
    if isinstance(given, list):
        return [_named(it, names) for it in given]
    return names.get(given, given) if isinstance(given, str) else given


def _records(
    rng: Random, count: int, words: Words, beside: dict[str, str] | None = None
) -> dict[str, str]:
    """New records, by names that none of those ``beside`` them has."""
    found: dict[str, str] = {}
    while len(found) < count:
        name = f"{rng.choice(PLAIN)}-{rng.choice(PLAIN)}-{rng.randint(10, 9999)}"
        if name not in found and name not in (beside or {}):
            found[name] = code(rng, words)
    return found

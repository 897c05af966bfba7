"""Sessions that look keys up in a manual and call the tool that its entry shows.

Sessions of a group share the first part of their manual, hence a prefix; the rest is their own,
with keys and values that no other session may ever say. A turn's key comes from the user, then
from the tool's answer, from the private and the shared part in turn. One rule: the text of
session i depends on the seed, its group and i, never on how many sessions there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Self

from pydantic import Field, model_validator

from engine.scribe import manual
from engine.text.template import tool_list
from lab.records import SessionPlan, TurnPlan
from lab.workloads.arrivals import arrivals, pauses
from lab.workloads.base import WORKLOADS, WorkloadModel

INTRODUCTION = "You are a clerk. Follow the manual below.\n# Manual\n"
TITLE_SPREAD = 10  # tokens by which one entry's title may be longer than another's
TURN_OVERHEAD = 70  # tokens of a user turn or a tool's answer, with the role tokens around it


@dataclass(frozen=True)
class Entry:
    """One entry of a manual: the call that answers its key."""

    key: str
    function: manual.Function
    values: tuple[str, str]

    @property
    def text(self) -> str:
        return manual.entry(self.key, self.function.name, self.values)

    @property
    def call(self) -> dict[str, Any]:
        arguments = dict(zip(self.function.parameters, self.values, strict=True))
        return {"name": self.function.name, "arguments": arguments}


@WORKLOADS.register("tool_sessions")
class ToolSessions(WorkloadModel):
    """Parameters of the load. An entry is about 300 tokens."""

    groups: int = Field(default=6, ge=1)
    shared_entries: int = Field(default=11, ge=0)
    private_entries: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _enough_entries(self) -> Self:
        private, shared = -(-self.turns // 2), self.turns // 2
        if self.private_entries < private or self.shared_entries < shared:
            raise ValueError(
                f"{self.turns} turns use {private} private and {shared} shared entries once each; "
                f"there are {self.private_entries} and {self.shared_entries}"
            )
        return self

    def longest_context(self) -> int:
        """Tokens: the longest manual there can be, and every turn run away to ``max_tokens``."""
        entries = (self.shared_entries + self.private_entries) * _longest_entry()
        head = manual.token_count(tool_list(TOOLS) + INTRODUCTION + manual.RULES_TEXT)
        return head + entries + self.turns * (TURN_OVERHEAD + self.max_tokens)

    def plan(self, seed: int) -> list[SessionPlan]:
        """The sessions; equal parameters and seeds give equal plans."""
        taken: set[str] = set()  # asked for membership only, never iterated
        shared = [
            _entries(Random(f"{seed}/group/{group}"), self.shared_entries, taken)
            for group in range(min(self.groups, self.sessions))
        ]
        starts = arrivals(seed, self.sessions, self.arrival_rate)
        return [
            self._session(seed, index, shared[index % self.groups], starts[index], taken)
            for index in range(self.sessions)
        ]

    def _session(
        self, seed: int, index: int, shared: list[Entry], start_s: float, taken: set[str]
    ) -> SessionPlan:
        rng = Random(f"{seed}/session/{index}")
        private = _entries(rng, self.private_entries, taken)
        path = _path(rng, private, shared, self.turns)
        refs = [_nonce(rng, manual.REFERENCE_LENGTH, taken) for _ in path]
        secrets = [word for entry in private for word in (entry.key, *entry.values)]
        return SessionPlan(
            index=index,
            group=index % self.groups,
            system=_system(shared, private),
            tools=TOOLS,
            turns=_turns(path, refs),
            secrets=(*secrets, *refs),
            start_s=start_s,
            think_s=pauses(seed, index, self.turns, self.think_s),
        )


def _longest_entry() -> int:
    """Tokens of the longest entry: every name and value at its longest, and the title's spread."""
    word = "Z" * manual.VALUE_LENGTHS[1]
    texts = [Entry(word[: manual.KEY_LENGTH], f, (word, word)).text for f in manual.FUNCTIONS]
    return max(manual.token_count(text) for text in texts) + TITLE_SPREAD


def _system(shared: list[Entry], private: list[Entry]) -> str:
    entries = "".join(entry.text for entry in (*shared, *private))
    return INTRODUCTION + entries + manual.RULES_TEXT


def _turns(path: list[Entry], refs: list[str]) -> tuple[TurnPlan, ...]:
    """One plan a turn: the first is asked by the user, the others by the tool's answer."""
    turns = []
    for step, entry in enumerate(path):
        following = path[step + 1].key if step + 1 < len(path) else ""
        first = {"role": "user", "content": manual.user_turn(entry.key)}
        turns.append(
            TurnPlan(
                prompt_messages=() if step else (first,),
                expected_text=manual.expected_reply(entry.text),
                expected_call=entry.call,
                tool_result=manual.tool_result(refs[step], following),
            )
        )
    return tuple(turns)


def _path(rng: Random, private: list[Entry], shared: list[Entry], turns: int) -> list[Entry]:
    """The entries asked for, private and shared in turn, each at most once."""
    own = rng.sample(private, -(-turns // 2))
    common = rng.sample(shared, turns // 2)
    return [own[step // 2] if step % 2 == 0 else common[step // 2] for step in range(turns)]


def _entries(rng: Random, count: int, taken: set[str]) -> list[Entry]:
    found = []
    for _ in range(count):
        key = _nonce(rng, manual.KEY_LENGTH, taken)
        low, high = manual.VALUE_LENGTHS
        first = _nonce(rng, rng.randint(low, high), taken)
        second = _nonce(rng, rng.randint(low, high), taken)
        found.append(Entry(key, rng.choice(manual.FUNCTIONS), (first, second)))
    return found


def _nonce(rng: Random, length: int, taken: set[str]) -> str:
    """A word of ``manual.ALPHABET`` that the whole load has not used yet."""
    while True:
        word = "".join(rng.choices(manual.ALPHABET, k=length))
        if word not in taken:
            taken.add(word)
            return word


def _tool(function: manual.Function) -> dict[str, Any]:
    """The function as an OpenAI tool."""
    word = {"type": "string"}
    return {
        "type": "function",
        "function": {
            "name": function.name,
            "description": f"Do what an entry of the manual says with {function.name}.",
            "parameters": {
                "type": "object",
                "properties": {name: dict(word) for name in function.parameters},
                "required": list(function.parameters),
                "additionalProperties": False,
            },
        },
    }


TOOLS: tuple[dict[str, Any], ...] = tuple(_tool(function) for function in manual.FUNCTIONS)

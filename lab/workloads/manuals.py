"""Manuals and the conversations about them: what all loads of the constructed model are made of.

A session's system prompt is a manual; a turn gives it a key, the user first and then the tool's
answers, and the reply is the entry of that key. One rule: what the model needs of a text
(`engine.scribe.manual`) is kept here, so a kind only decides who shares what, and when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from engine.scribe import manual
from engine.text.template import tool_list
from lab.records import TurnPlan

INTRODUCTION = "You are a clerk. Follow the manual below.\n# Manual\n"
TITLE_SPREAD = 10  # tokens by which one entry's title may be longer than another's
TURN_OVERHEAD = 70  # tokens of a user turn or a tool's answer, with the role tokens around it
NOTES = (
    "this part says nothing of any key and only takes up room between the entries around it so "
    "whoever reads on may pass over it and lose nothing at all"
).split()


@dataclass(frozen=True)
class Entry:
    """One entry of a manual: the call that answers its key."""

    key: str
    function: manual.Function
    values: tuple[str, str]

    @property
    def text(self) -> str:
        return manual.entry(self.key, self.function, self.values)

    @property
    def words(self) -> tuple[str, str, str]:
        """What whoever reads the entry may say."""
        return self.key, *self.values

    @property
    def call(self) -> dict[str, Any]:
        arguments = dict(zip(self.function.parameters, self.values, strict=True))
        return {"name": self.function.name, "arguments": arguments}


@dataclass
class Words:
    """The words of one load, none of them twice."""

    taken: set[str] = field(default_factory=set)  # asked for membership only, never iterated
    functions: tuple[manual.Function, ...] = manual.FUNCTIONS  # that entries call
    alphabet: str = manual.ALPHABET

    def entries(self, rng: Random, count: int, beside: Sequence[Entry] = ()) -> list[Entry]:
        """New entries of a manual that has those ``beside`` them."""
        seen = {part for entry in beside for word in entry.words for part in manual.trigrams(word)}
        found = []
        for _ in range(count):
            key = self.nonce(rng, manual.KEY_LENGTH, seen)
            low, high = manual.VALUE_LENGTHS
            first = self.nonce(rng, rng.randint(low, high), seen)
            second = self.nonce(rng, rng.randint(low, high), seen)
            found.append(Entry(key, rng.choice(self.functions), (first, second)))
        return found

    def references(self, rng: Random, count: int) -> list[str]:
        """New references of tools' answers."""
        return [self.nonce(rng, manual.REFERENCE_LENGTH, set()) for _ in range(count)]

    def nonce(self, rng: Random, length: int, seen: set[str]) -> str:
        """A word of the ``alphabet`` that the load has not used yet, and whose trigrams its
        manual has not ``seen``; they are added. A word that will not do is drawn anew from a
        generator of its own, so that all others stay what they are.
        """
        word = "".join(rng.choices(self.alphabet, k=length))
        while word in self.taken or not seen.isdisjoint(manual.trigrams(word)):
            word = "".join(Random(f"not {word}").choices(self.alphabet, k=length))
        self.taken.add(word)
        seen.update(manual.trigrams(word))
        return word


def system(shared: Sequence[Entry], own: Sequence[Entry], between: str = "") -> str:
    """A system prompt; ``between`` is other text behind the shared entries."""
    head = INTRODUCTION + "".join(entry.text for entry in shared)
    return head + between + "".join(entry.text for entry in own) + manual.RULES_TEXT


def lengthened(text: str, more: str) -> str:
    """A system prompt with ``more`` behind its last entry."""
    return text.removesuffix(manual.RULES_TEXT) + more + manual.RULES_TEXT


def notes(rng: Random, tokens: int) -> str:
    """Plain text of exactly so many tokens that answers nothing."""
    text = ""
    while len(text) < tokens:
        text += f" {rng.choice(NOTES)}"
    return text[:tokens]


def said(entries: Sequence[Entry], refs: Sequence[str]) -> tuple[str, ...]:
    """Every word of these entries and references."""
    return (*(word for entry in entries for word in entry.words), *refs)


def head_tokens(shared: Sequence[Entry]) -> int:
    """Tokens of a prompt up to the end of the shared entries."""
    text = tool_list(TOOLS) + INTRODUCTION + "".join(entry.text for entry in shared)
    return 1 + manual.token_count(text)


def turns(path: Sequence[Entry], refs: Sequence[str]) -> tuple[TurnPlan, ...]:
    """One plan a turn: the first is asked by the user, the others by the tool's answer."""
    found = []
    for step, entry in enumerate(path):
        following = path[step + 1].key if step + 1 < len(path) else ""
        first = {"role": "user", "content": manual.user_turn(entry.key)}
        found.append(
            TurnPlan(
                prompt_messages=() if step else (first,),
                expected_text=manual.expected_reply(entry.text),
                expected_call=entry.call,
                tool_result=manual.tool_result(refs[step], following),
            )
        )
    return tuple(found)


def path(rng: Random, own: Sequence[Entry], shared: Sequence[Entry], count: int) -> list[Entry]:
    """The entries asked for, own and shared in turn, each at most once."""
    mine = rng.sample(own, -(-count // 2))
    common = rng.sample(shared, count // 2)
    return [mine[step // 2] if step % 2 == 0 else common[step // 2] for step in range(count)]


def longest_prompt(entries: int) -> int:
    """Tokens that a system prompt of so many entries has at most, the tools' list included."""
    head = manual.token_count(tool_list(TOOLS) + INTRODUCTION + manual.RULES_TEXT)
    return head + entries * (LONGEST_ENTRY + TITLE_SPREAD)


def entry_tokens(function: manual.Function) -> int:
    """Tokens of the longest entry that calls the function, but for its title's spread."""
    word = "Z" * manual.VALUE_LENGTHS[1]
    return manual.token_count(Entry(word[: manual.KEY_LENGTH], function, (word, word)).text)


LONGEST_ENTRY = max(entry_tokens(function) for function in manual.FUNCTIONS)


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

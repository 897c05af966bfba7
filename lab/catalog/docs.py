"""What docstrings say, taken apart. One rule: the words are theirs, the layout is undone.

A defect's has a sentence and fields (``Origin``, ``Trigger``, ``Symptom``, ``Fix``); a module that
watches invariants has a list of them, an item being the name in double backticks and what it means.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

FIELD = re.compile(r"([A-Z][a-z]+) {2,}(\S.*)")
ITEM = re.compile(r"- ``(\w+)``: (.*)")


@dataclass(frozen=True)
class Told:
    """A defect's docstring: what is wrong, and its fields by name."""

    mechanism: str
    fields: dict[str, str]


def told(doc: str) -> Told:
    """The sentence and the fields; each as one line."""
    head: list[str] = []
    fields: dict[str, list[str]] = {}
    into = head
    for line in inspect.cleandoc(doc).splitlines():
        if found := FIELD.fullmatch(line):
            into = fields.setdefault(found[1], [])
            line = found[2]
        into.append(line)
    return Told(joined(head), {name: joined(lines) for name, lines in fields.items()})


def items(doc: str) -> dict[str, str]:
    """The list of names and what they mean, each a sentence."""
    found: dict[str, list[str]] = {}
    into: list[str] = []
    for line in inspect.cleandoc(doc).splitlines():
        if item := ITEM.fullmatch(line):
            into = found.setdefault(item[1], [])
            line = item[2]
        elif not line.startswith("  "):
            into = []
        into.append(line)
    return {name: sentence(joined(lines)) for name, lines in found.items()}


def first(doc: str | None) -> str:
    """A docstring's first paragraph as one line; empty where there is none."""
    return joined(inspect.cleandoc(doc or "").split("\n\n")[0].splitlines())


def joined(lines: list[str]) -> str:
    """Lines as one, with the single backticks that people paste."""
    return " ".join(" ".join(lines).split()).replace("``", "`")


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".;") + "."

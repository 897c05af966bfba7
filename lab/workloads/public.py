"""Manuals that call public tools: what the bundled model can follow of a collection of schemas.

One rule: a tool is taken where two free texts are all that it takes, and where an entry that calls
it is no longer than any other manual's. Its two parameters must begin with different letters: the
model went from ``file_name`` on to either of ``file_name1`` and ``file_name2``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.scribe.manual import Function
from engine.text.template import tool_list
from lab.errors import UserError
from lab.workloads.manuals import LONGEST_ENTRY, TOOLS, entry_tokens
from lab.workloads.schemas import Tool, read_tools

if TYPE_CHECKING:
    from random import Random

LONGEST_NAME = 12  # characters, of a tool that the model can tell from others
OFFERED = len(TOOLS)
LONGEST_SIGNATURE = 36  # tokens in the prompt's list of tools


def manual_tools(folder: str) -> dict[str, tuple[Tool, Function]]:
    """The tools of the collection that a manual can call, by name; ``UserError`` for none."""
    found = {}
    for tool in read_tools(folder):
        function = _function(tool)
        if function is not None:
            found[function.name] = tool, function
    if not found:
        raise UserError(f"workload.data: no tool in {folder} takes two free texts and nothing else")
    return found


def some_tools(
    rng: Random, known: dict[str, tuple[Tool, Function]]
) -> tuple[tuple[Tool, ...], tuple[Function, ...]]:
    """As many of them as other manuals have."""
    names = rng.sample(list(known), min(OFFERED, len(known)))
    return tuple(known[it][0] for it in names), tuple(known[it][1] for it in names)


def more_tokens() -> int:
    """Tokens by which a list of such tools may be longer than that of other manuals."""
    return max(0, OFFERED * LONGEST_SIGNATURE - len(tool_list(TOOLS)))


def _function(tool: Tool) -> Function | None:
    name, parameters = tool["function"]["name"], tool["function"]["parameters"]
    properties = parameters.get("properties", {})
    if len(properties) != 2 or len(name) > LONGEST_NAME:
        return None
    if not all(it["type"] == "string" and "enum" not in it for it in properties.values()):
        return None
    first, second = properties
    made = Function(name, (first, second))
    signature = len(f"{name}({first}, {second})\n")
    if first[0] == second[0]:
        return None
    fits = entry_tokens(made) <= LONGEST_ENTRY and signature <= LONGEST_SIGNATURE
    return made if fits else None

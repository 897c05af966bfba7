"""Tools out of collections of schemas, in OpenAI's shape: a hundred that ship, or others.

Read are lists of OpenAI's tools, as in ``tools/`` beside this file; tau-bench's lists of tools; and
BFCL's files: JSON lines despite their name, a tool or a task with its tools a line, whose types are
Python's. One rule: a tool that is no JSON Schema after that, or whose name an earlier file has, is
left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.errors import UserError

TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array"}
KNOWN = ("object", "array", "string", "number", "integer", "boolean")
SHIPPED, OURS = "shipped", Path(__file__).with_name("tools")
KEPT = ("description", "enum")  # beside what is walked through
LONGEST_NAME = 64  # characters, as OpenAI's API has it

Tool = dict[str, Any]


def no_folder(folder: str) -> str:
    """Why there are no tools to read, and what there may be; empty where there is a folder."""
    accepted = f"accepted: {SHIPPED}, or a folder with tool schemas"
    return "" if _root(folder).is_dir() else f"no folder {folder}; {accepted}"


def _root(folder: str) -> Path:
    return OURS if folder == SHIPPED else Path(folder)


def read_tools(folder: str) -> list[Tool]:
    """Every tool below ``folder``, sorted by name. Raises ``UserError`` where there is none."""
    if why := no_folder(folder):
        raise UserError(f"workload.data: {why}")
    root = _root(folder)
    found: dict[str, Tool] = {}
    for path in sorted(root.rglob("*.json")):
        for function in _functions(_values(path)):
            tool = _tool(function)
            if tool is not None:
                found.setdefault(tool["function"]["name"], tool)
    if not found:
        raise UserError(f"workload.data: no tool schemas in {folder}")
    return [found[name] for name in sorted(found)]


def _values(path: Path) -> list[Any]:
    """The values of a file: those of its list, or one a line."""
    try:
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise UserError(f"workload.data: {path} is no JSON: {why}") from None


def _functions(values: list[Any]) -> Iterator[Mapping[str, Any]]:
    for value in values:
        if not isinstance(value, Mapping):
            continue
        inner = value.get("function")
        if isinstance(inner, list):
            yield from (it for it in inner if isinstance(it, Mapping))
        else:
            yield inner if isinstance(inner, Mapping) else value


def _tool(function: Mapping[str, Any]) -> Tool | None:
    """The function as an OpenAI tool; None where it is none."""
    name, parameters = function.get("name"), schema(function.get("parameters"))
    if not isinstance(name, str) or parameters is None or parameters["type"] != "object":
        return None
    made = {
        "name": re.sub(r"[^A-Za-z0-9_-]", "_", name)[:LONGEST_NAME],
        "description": str(function.get("description", "")),
        "parameters": parameters,
    }
    return {"type": "function", "function": made}


def schema(given: Any) -> dict[str, Any] | None:
    """JSON Schema of what a collection says of a value; None where it cannot be said."""
    if not isinstance(given, Mapping) or not isinstance(given.get("type"), str):
        return None
    name = TYPES.get(given["type"], given["type"])
    if name not in KNOWN:
        return None
    made: dict[str, Any] = {"type": name, **{key: given[key] for key in KEPT if key in given}}
    if name == "array" and "items" in given:
        made["items"] = schema(given["items"])
        if made["items"] is None:
            return None
    if name == "object" and isinstance(given.get("properties"), Mapping):
        properties = {str(key): schema(value) for key, value in given["properties"].items()}
        if None in properties.values():
            return None
        made["properties"] = properties
        made["required"] = [key for key in given.get("required", ()) if key in properties]
    return made

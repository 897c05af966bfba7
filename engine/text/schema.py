"""The part of JSON Schema that tool parameters use. One rule: an unknown keyword never refuses.

Checked: ``type``, ``enum``, ``const``, ``required``, ``properties``, ``additionalProperties``
(false), ``items``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def violation(value: Any, schema: Any, at: str = "arguments") -> str | None:
    """The first way in which ``value`` breaks ``schema``, as one phrase; None where it fits."""
    return next(_violations(value, schema, at), None)


def _violations(value: Any, schema: Any, at: str) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    names = schema.get("type")
    if names is not None and not _is_a(value, [names] if isinstance(names, str) else names):
        yield f"{at} is not of type {names}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at} is not {schema['const']!r}"
    if isinstance(value, dict):
        yield from _members(value, schema, at)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _violations(item, schema.get("items"), f"{at}[{index}]")


def _members(value: dict[str, Any], schema: Mapping[str, Any], at: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at} lacks {name!r}"
    for name, item in value.items():
        if name in known:
            yield from _violations(item, known[name], f"{at}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{at} has an unknown member {name!r}"


def _is_a(value: Any, names: list[str]) -> bool:
    if isinstance(value, bool):  # a bool is an int to Python and not to JSON
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True  # 1.0 is an integer to JSON Schema
    return any(isinstance(value, _TYPES.get(name, (object,))) for name in names)

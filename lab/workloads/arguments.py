"""Arguments that a schema accepts, drawn at random. One rule: free text is a secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

Schema = Mapping[str, Any]
FEW, MANY = 100, 999_999  # a whole number's bounds: short enough to be copied without a slip
DIGITS = (0.25, 0.5, 0.75)  # binary fractions, so that every JSON reader reads the same


def askable(parameters: Schema) -> bool:
    """Whether arguments can be drawn, with at least one free text that is always there."""
    properties = parameters.get("properties", {})
    free = (properties[name] for name in parameters.get("required", ()))
    drawn = all(_drawable(it) for it in properties.values())
    return drawn and any(it["type"] == "string" and "enum" not in it for it in free)


def arguments(rng: Random, parameters: Schema, text: Callable[[], str]) -> dict[str, Any]:
    """What is required, and each of the rest by the toss of a coin, in the schema's order."""
    required = parameters.get("required", ())
    return {
        name: value(rng, it, text)
        for name, it in parameters["properties"].items()
        if name in required or rng.random() < 0.5
    }


def value(rng: Random, schema: Schema, text: Callable[[], str]) -> Any:
    """One value; ``text`` makes the free ones."""
    if schema.get("enum"):
        return rng.choice(schema["enum"])
    match schema["type"]:
        case "string":
            return text()
        case "integer":
            return rng.randint(FEW, MANY)
        case "number":
            return rng.randint(FEW, MANY) + rng.choice(DIGITS)
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [value(rng, schema["items"], text) for _ in range(rng.randint(1, 2))]
    return {name: value(rng, it, text) for name, it in schema["properties"].items()}


def _drawable(schema: Schema) -> bool:
    match schema["type"]:
        case "array":
            return "items" in schema and _drawable(schema["items"])
        case "object":
            return all(
                _drawable(it) for it in schema.get("properties", {"": {"type": "null"}}).values()
            )
    return bool(schema["type"] != "null")

"""The published JSON Schema. One rule: it is made from the models that check a file."""

from __future__ import annotations

import json
from typing import Any

from lab.scenario.fields import scenario_file


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a scenario file."""
    body = _without_nulls(scenario_file().model_json_schema())
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kvlab scenario"}
    return {**head, **{key: value for key, value in body.items() if key != "title"}}


def text() -> str:
    """The schema as `scenarios/schema.json` holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _without_nulls(node: Any) -> Any:
    """Without the nulls that only say that a key may be left out, and without made-up titles."""
    if isinstance(node, list):
        return [_without_nulls(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_nulls(value)
        for key, value in node.items()
        if not (key == "default" and value is None) and not (key == "title" and value != "kvlab")
    }

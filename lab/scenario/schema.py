"""The published JSON Schema. One rule: it is made from the models that check a file."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from lab.scenario.fields import Shape, the_bundled
from lab.scenario.strict import Loose
from lab.targets.spec import BUNDLED, TargetSpec

A_SERVER = {
    "anyOf": [
        {"type": "string", "description": "a base URL, a launch profile's name or its file"},
        {
            "type": "object",
            "required": ["base_url"],
            "additionalProperties": False,
            "properties": {
                **{key: {"type": "string"} for key in ("base_url", "model", "api_key_env")},
                "flush": {"type": "string", "pattern": "^/"},
                "max_requests_per_s": {"type": "number", "exclusiveMinimum": 0},
            },
        },
        {
            "type": "object",
            "required": ["profile"],
            "properties": {"profile": {"type": "string"}},
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        },
    ]
}


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a scenario file.

    For the bundled engine it knows every key; for others those of the load, and leaves what a
    profile adds to `kvlab scenario check`.
    """
    ours, others = the_bundled().file, Shape(TargetSpec("url", "").toggles, "Any", Loose).file
    _, made = models_json_schema([(ours, "validation"), (others, "validation")])
    defs = _without_nulls(made["$defs"])
    defs[ours.__name__]["properties"]["target"] = {"const": BUNDLED, "default": BUNDLED}
    defs[others.__name__]["properties"] |= {"target": A_SERVER, "clock": {"const": "wall"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kvlab scenario",
        "$defs": defs,
        "type": "object",
        "if": {"properties": {"target": {"const": BUNDLED}}},
        "then": {"$ref": f"#/$defs/{ours.__name__}"},
        "else": {"$ref": f"#/$defs/{others.__name__}"},
    }


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

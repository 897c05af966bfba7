"""A tool call's arguments: the JSON text of one object, kept as it was spelt.

One rule: a value's own spelling survives (``1.0e3`` stays so), because an assistant turn must be
rendered again as the model wrote it.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, NoReturn

MAX_DEPTH = 100  # brackets that may stand inside each other


def load(text: str) -> Any:
    """The value of strict JSON; ValueError on NaN, duplicate members, or nesting too deep."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None
    # a limit of our own, since Python's depends on how deep the caller already is
    if _depth(text) > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return value


def members(text: str) -> dict[str, str]:
    """Each member of the JSON object ``text`` with the spelling of its value, in order.

    Raises ValueError where ``text`` is not the strict JSON of an object.
    """
    if not isinstance(load(text), dict):
        raise ValueError("not a JSON object")
    found: dict[str, str] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)  # over the colon
        _, at = _DECODER.raw_decode(text, start)
        found[key] = text[start:at]
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


_DECODER = json.JSONDecoder()
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def _depth(text: str) -> int:
    steps = (_STEP.get(sign, 0) for sign in _STRING.sub("", text))
    return max(accumulate(steps), default=0)


def _skip(text: str, at: int) -> int:
    """The first place at or after ``at`` that is not JSON white space."""
    while text[at] in " \t\n\r":
        at += 1
    return at


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a member appears twice")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")

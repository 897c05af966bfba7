"""JSON of the database back into structure, one value or a whole column.

One rule: what `lab.store.columns.encode` wrote comes back equal, fast or slow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import orjson

READER = json.JSONDecoder()  # asked at once: looking for blanks around costs more than reading
BEYOND = re.compile(r"[:,\[ -][0-9]{19}")  # maybe a whole number that 64 bits do not hold


def decode(text: str) -> Any:
    """Structure from its JSON; most of it is empty."""
    if text == "[]":
        return []
    return {} if text == "{}" else READER.raw_decode(text)[0]


def decode_all(texts: Sequence[str]) -> list[Any]:
    """What ``decode`` says of each: at once, where nothing in them needs the slow way."""
    whole = f"[{','.join(texts)}]"
    if BEYOND.search(whole):
        return list(map(decode, texts))
    try:
        found: list[Any] = orjson.loads(whole)
    except orjson.JSONDecodeError:  # infinity, halves of surrogate pairs
        return list(map(decode, texts))
    return found

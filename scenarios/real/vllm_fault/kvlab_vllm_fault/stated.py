"""Which fault, and when: the words of `KVLAB_FAULT`. One rule: an unknown word stops the server.

kind     swap     two blocks exchange their contents
         zero     a block is all zeros
         stale    a block holds what it held before it was written last
         double   a request is given another request's block in place of its own
at       hit      of the blocks that a new request finds in the prefix cache
         decode   of the blocks that a request holds when it begins to decode (`double`: of
                  those that it is given from then on)
written  any, prefill, decode: only a block of which that step wrote a row
running  only in a step of at least so many requests
p        of each of these occasions, with this probability
seed     of the choices
most     damages in all; 0: no limit
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

CHOICES = {
    "kind": ("swap", "zero", "stale", "double"),
    "at": ("hit", "decode"),
    "written": ("any", "prefill", "decode"),
}


@dataclass(frozen=True)
class Stated:
    """A fault, as it was asked for."""

    kind: str = "swap"
    at: str = "hit"
    written: str = "any"
    running: int = 1
    p: float = 1.0
    seed: int = 0
    most: int = 0


def stated(text: str) -> Stated:
    """The fault that words such as ``kind=swap p=0.25`` state; raises `ValueError`."""
    types: dict[str, Any] = {field.name: type(field.default) for field in fields(Stated)}
    found: dict[str, Any] = {}
    for word in text.split():
        key, _, value = word.partition("=")
        if key not in types:
            raise ValueError(f"KVLAB_FAULT: unknown word {word!r}; accepted: {', '.join(types)}")
        accepted = CHOICES.get(key, (value,))
        if value not in accepted:
            raise ValueError(f"KVLAB_FAULT: {word!r}; accepted: {', '.join(accepted)}")
        found[key] = types[key](value)
    return Stated(**found)

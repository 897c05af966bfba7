"""A violation's fields as sentences. One rule: every field is said, those of a reader and a writer
in the order in which they explain each other, and the rest as they are; times are seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.explaining.writers import clocked, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

SAID_ELSEWHERE = ("name", "n")
WHOM = ("request", "room")


def sentences(fields: Mapping[str, Any]) -> list[str]:
    """Who read or wrote what, whose it is, who wrote it last and what should have ordered them."""
    left = {key: _clocked(value) for key, value in fields.items() if key not in SAID_ELSEWHERE}
    made = [_access(left), _owned(left), _written(left), _freed(left), _edge(left)]
    rest = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in left.items())
    return [*(it for it in made if it), *([f"{_capital(rest)}."] if rest else [])]


def _access(left: dict[str, Any]) -> str:
    """The row and its reader."""
    if "reader" not in left:
        return ""
    reader, place = left.pop("reader"), _row(left)
    left.pop("request", None), left.pop("step", None)
    position = f", position {left.pop('position')} of its context" if "position" in left else ""
    output = f", for token {left.pop('output')} of its reply" if "output" in left else ""
    return f"{_capital(str(reader))} read {place}{position}{output}."


def _row(left: dict[str, Any]) -> str:
    """The row as one phrase: ``slot 161 of index_k (page 2, layer 0)``."""
    slot = f"slot {left.pop('slot')}" if "slot" in left else "rows"
    pool = f" of {left.pop('pool')}" if "pool" in left else ""
    where = ", ".join(f"{key} {left.pop(key)}" for key in ("page", "layer") if key in left)
    return f"{slot}{pool}{f' ({where})' if where else ''}"


def _owned(left: dict[str, Any]) -> str:
    """Whose it is, and in which state."""
    if "owner" not in left or "state" not in left:
        return ""
    owner, state = left.pop("owner"), left.pop("state")
    of = f", generation {left.pop('generation')}" if "generation" in left else ""
    whose = "belongs to nobody" if owner == "nobody" else f"belongs to {owner}"
    before = "" if owner == "nobody" else _before(left)
    return f"It {whose} and is {state}{of}{before}."


def _before(left: dict[str, Any]) -> str:
    """Who freed what is somebody's by now."""
    freed = left.pop("freed", "")
    return f"; before that, {freed}" if freed else ""


def _written(left: dict[str, Any]) -> str:
    """Who wrote it last, and when."""
    writer = left.pop("writer", None)
    if not writer:
        return ""
    at = f" at {seconds(left.pop('writer_at_us') * 1000)}" if "writer_at_us" in left else ""
    for key in ("writer_step", "writer_lane", "writer_kind"):  # the sentence names them
        left.pop(key, None)
    known = [f"{key} {left.pop(f'writer_{key}')}" for key in WHOM if f"writer_{key}" in left]
    unsaid = [one for one in known if one not in str(writer)]
    for_whom = f", for {' and '.join(unsaid)}" if unsaid else ""
    return f"Last written by {writer}{at}{for_whom}."


def _freed(left: dict[str, Any]) -> str:
    freed = left.pop("freed", "")
    return f"It was {freed}." if freed else ""


def _edge(left: dict[str, Any]) -> str:
    edge = left.pop("edge", "")
    return f"What should have ordered them: {edge}." if edge else ""


def _clocked(value: Any) -> Any:
    return clocked(value) if isinstance(value, str) else value


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

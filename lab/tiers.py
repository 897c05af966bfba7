"""What an arm left of its copies between tiers, and of its pools' geometry.

One rule: a path that never ran is a row with a zero, not a missing row: the zero is the proof.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.records import ArmHistory

PATH, ROWS = "path:", "path_rows:"


@dataclass(frozen=True)
class CopyPath:
    """One way in which bytes of a pool can go between tiers, and how often they did."""

    pool: str
    operation: str  # "backup" | "load"
    branch: str  # production's name of the copy
    layout: str  # of the host pool
    calls: int
    rows: int  # page rows, or tokens where the branch is token-granular


def copy_paths(counters: Mapping[str, int]) -> list[CopyPath]:
    """The counters ``path:{pool}:{operation}:{branch}:{layout}`` with their rows, sorted."""
    found: list[CopyPath] = []
    for name in sorted(counters):
        path = name.removeprefix(PATH).split(":")
        if name.startswith(PATH) and len(path) == 4:
            pool, operation, branch, layout = path
            rows = counters.get(ROWS + name.removeprefix(PATH), 0)
            found.append(CopyPath(pool, operation, branch, layout, counters[name], rows))
    return found


def others(counters: Mapping[str, int]) -> dict[str, int]:
    """The counters that no copy path has, by name."""
    return {n: counters[n] for n in sorted(counters) if not n.startswith((PATH, ROWS))}


def stored_geometry(history: ArmHistory) -> list[dict[str, Any]]:
    """The rows of the geometry that the server stated when the arm began; none if it did not."""
    for _, kind, fields in history.events:
        if kind == "server_info":
            return list(json.loads(fields.get("info", "{}")).get("geometry", ()))
    return []

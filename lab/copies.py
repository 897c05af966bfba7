"""What an arm left of its copies between tiers, and of its pools' geometry.

One rule: a path that never ran is a row with a zero, not a missing row: the zero is the proof.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.records import ArmHistory

PATH, ROWS = "path:", "path_rows:"
BY_TOKEN = "token_granular"
DIFFERS = "restored_differs:"


@dataclass(frozen=True)
class CopyPath:
    """One way in which bytes of a pool can go between tiers, and how often they did."""

    pool: str
    operation: str  # "backup" | "load"
    branch: str  # production's name of the copy
    layout: str  # of the host pool
    calls: int
    rows: int  # in units of ``unit``

    @property
    def unit(self) -> str:
        """What ``rows`` counts."""
        return "tokens" if self.branch == BY_TOKEN else "page rows"


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


def never_ran(paths: Sequence[CopyPath]) -> list[str]:
    """``token_granular (backup, load) for swa, c4``: the branches without a call, token by token
    first.
    """
    idle: dict[tuple[str, str], list[str]] = {}
    for path in sorted(paths, key=lambda path: path.branch != BY_TOKEN):
        if not path.calls:
            idle.setdefault((path.branch, path.operation), []).append(path.pool)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (branch, operation), pools in idle.items():
        alike.setdefault((branch, tuple(pools)), []).append(operation)
    return [
        f"{branch} ({', '.join(operations)}) for {', '.join(dict.fromkeys(pools))}"
        for (branch, pools), operations in alike.items()
    ]


def others(counters: Mapping[str, int]) -> dict[str, str]:
    """The counters that no copy path has, by name, in words.

    What restored pages differ in is told of how many: a zero of none compared is no finding.
    """
    restored = counters.get("pages_restored", 0)
    return {
        name: f"{counters[name]} of {restored}" if name.startswith(DIFFERS) else str(counters[name])
        for name in sorted(counters)
        if not name.startswith((PATH, ROWS))
    }


def by_pool(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Geometry rows as pool -> tier -> row, in the order in which the pools come."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(str(row.get("pool")), {})[str(row.get("tier"))] = row
    return found


def stored_geometry(history: ArmHistory) -> list[dict[str, Any]]:
    """The rows of the geometry that the server stated when the arm began; none if it did not."""
    for _, kind, fields in history.events:
        if kind == "server_info":
            return list(json.loads(fields.get("info", "{}")).get("geometry", ()))
    return []

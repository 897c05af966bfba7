"""Where a run comes from: what was typed, what was built, which load, which versions.

One rule: all of it is read from the store, so it is what the run had and not what is here now.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.errors import ScenarioError
from lab.scenario.document import Document

if TYPE_CHECKING:
    from lab.store import StoredRun

UNKNOWN = "–"


@dataclass(frozen=True)
class Origin:
    """What a bug report needs besides the outcome."""

    command: str  # one line for a shell; empty where an older kvlab stored the run
    build: tuple[str, ...]  # defects in the code under test
    workload: dict[str, Any]  # kind, preset and the load's own keys
    versions: dict[str, Any]

    def lines(self) -> dict[str, str]:
        """The same in words, by what they are of."""
        built = ", ".join(self.build) or "healthy"
        return {
            "command": self.command or UNKNOWN,
            "build": built if self.workload else UNKNOWN,
            "workload": listed(self.workload, " ") or UNKNOWN,
            "versions": listed(self.versions, " ") or UNKNOWN,
        }


def origin(stored: StoredRun) -> Origin:
    """The origin of a stored run."""
    command = shlex.join(stored.asked.argv)
    return origin_of(stored.yaml, f"scenario of run {stored.id}", command, stored.versions)


def origin_of(yaml: str, file: str, command: str, versions: dict[str, Any]) -> Origin:
    """The origin of whatever ran a scenario; what the file does not say any more is empty."""
    try:
        said = Document(yaml, file).plain()
    except ScenarioError:
        said = {}
    load = said.get("workload", {})
    rest = {key: value for key, value in load.items() if key not in ("kind", "preset")}
    named = {"kind": load["kind"], "preset": load.get("preset", "reference")} if load else {}
    return Origin(command, tuple(said.get("build", ())), {**named, **rest}, versions)


def listed(values: Mapping[str, object], mark: str) -> str:
    """``kind tool_sessions, sessions 60``."""
    return ", ".join(f"{key}{mark}{value}" for key, value in values.items())

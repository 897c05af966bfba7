"""Where a run comes from: what was typed, what was built, which load, which versions.

One rule: all of it is read from the store, so it is what the run had and not what is here now.
What somebody else's server is made of is not ours to say: only what it told of itself is.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lab.errors import ScenarioError
from lab.scenario.document import Document
from lab.targets.spec import BUNDLED

if TYPE_CHECKING:
    from lab.records import ArmHistory
    from lab.store import StoredRun

UNKNOWN = "–"
THEIRS = "the server's own, unknown to kvlab"
OURS = "versions of kvlab, not of the server"


@dataclass(frozen=True)
class Origin:
    """What a bug report needs besides the outcome."""

    command: str  # one line for a shell; empty where an older kvlab stored the run
    build: tuple[str, ...]  # defects in the code under test
    workload: dict[str, Any]  # kind, preset and the load's own keys
    versions: dict[str, Any]
    foreign: bool = False  # somebody else's server was asked
    servers: tuple[str, ...] = ()  # ``sglang 0.5.4``: what the servers said that they are

    def lines(self) -> dict[str, str]:
        """The same in words, by what they are of."""
        told = {"server's version": ", ".join(self.servers)} if self.servers else {}
        return {
            "command": self.command or UNKNOWN,
            "build": self._built() if self.workload else UNKNOWN,
            "workload": listed(self.workload, " ") or UNKNOWN,
            **told,
            OURS if self.foreign else "versions": listed(self.versions, " ") or UNKNOWN,
        }

    def _built(self) -> str:
        planted = ", ".join(self.build)
        if not self.foreign:
            return planted or "healthy"
        return f"{THEIRS}; planted in it: {planted}" if planted else THEIRS


def origin(stored: StoredRun, histories: Sequence[ArmHistory] = ()) -> Origin:
    """The origin of a stored run; ``histories`` are where its servers said what they are."""
    command = shlex.join(stored.asked.argv)
    found = origin_of(stored.yaml, f"scenario of run {stored.id}", command, stored.versions)
    return replace(found, servers=servers_versions(histories))


def origin_of(yaml: str, file: str, command: str, versions: dict[str, Any]) -> Origin:
    """The origin of whatever ran a scenario; what the file does not say any more is empty."""
    try:
        said = Document(yaml, file).plain()
    except ScenarioError:
        said = {}
    load = said.get("workload", {})
    rest = {key: value for key, value in load.items() if key not in ("kind", "preset")}
    named = {"kind": load["kind"], "preset": load.get("preset", "reference")} if load else {}
    foreign = said.get("target", BUNDLED) != BUNDLED
    return Origin(command, tuple(said.get("build", ())), {**named, **rest}, versions, foreign)


def servers_versions(histories: Sequence[ArmHistory]) -> tuple[str, ...]:
    """Whose servers answered and which versions they told, each once, as ``vllm 0.11.0``."""
    every = [_version(arm) for arm in histories]
    return tuple(dict.fromkeys(found for found in every if found))


def _version(arm: ArmHistory) -> str:
    from lab.targets.documents import MODELS, maker  # httpx, which most reports do not need

    told = {it["path"]: it for _, kind, it in arm.events if kind == "server_info" and "path" in it}
    found = {path: json.loads(it["info"]) for path, it in told.items()}
    version = next((it["version"] for path, it in found.items() if "version" in it), "")
    return f"{maker({MODELS: found.get(MODELS)})} {version}".strip() if version else ""


def listed(values: Mapping[str, object], mark: str) -> str:
    """``kind tool_sessions, sessions 60``."""
    return ", ".join(f"{key}{mark}{value}" for key, value in values.items())

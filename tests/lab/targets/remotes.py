"""A task for somebody else's server, and the server's address, for the tests of the remote target.

One rule: servers are real ones on loopback; what they are asked is small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lab.launching.servers import Server
from lab.targets.base import Task
from lab.workloads import resolve

if TYPE_CHECKING:
    from lab.records import SessionPlan
    from lab.targets import Watch

SETTINGS = {"concurrency": 8, "arrival_rate": None, "abort_rate": 0.0}


def server(url: str, **given: Any) -> Server:
    """A server that somebody else started."""
    return Server(**{"base_url": url, "boot": 0, "commands": (), "logs": {}, "urls": {}, **given})


def stranger_task(**given: Any) -> Task:
    """The same, of a model whose replies nobody knows."""
    known = task(**given)
    return replace(known, plans=tuple(map(_unknown, known.plans)))


def task(watch: Watch | None = None, settings: dict[str, Any] | None = None, **load: Any) -> Task:
    """Two sessions of two turns, unless the load says otherwise."""
    workload = resolve("tool_sessions", "small", {"sessions": 2, "turns": 2, **load})
    return Task(
        name="theirs",
        settings=SETTINGS | (settings or {}),
        build=(),
        seed=0,
        workload=workload,
        plans=tuple(workload.kept(0)),
        progress=lambda done, due: None,
        watch=watch,
        clock="wall",
    )


def _unknown(plan: SessionPlan) -> SessionPlan:
    turns = [replace(turn, expected_text="", expected_call={}) for turn in plan.turns]
    return replace(plan, turns=tuple(turns))

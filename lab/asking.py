"""How a run was asked for, and what it may then be held against.

One rule: a run that was made smaller or changed is not the one that its file speaks of, so where
it shows no failure it does not contradict the file either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.records import Asked

if TYPE_CHECKING:
    from pathlib import Path

    from lab.scenario.models import Scenario


def asked(
    command: Sequence[str],
    file: Path,
    scenario: Scenario,
    *,
    sets: Sequence[str] = (),
    seed: int | None = None,
    sessions: int | None = None,
) -> Asked:
    """What was typed; ``scenario`` is the file's, before ``sessions`` capped any arm of it.

    ``command`` is ``run``, or ``ab`` and what only that takes.
    """
    name, *words = command
    argv = ["kvlab", name, str(file), *words]
    for text in sets:
        argv += ["--set", text]
    argv += [] if sessions is None else ["--sessions", str(sessions)]
    argv += [] if seed is None else ["--seed", str(seed)]
    due = {arm.name: scenario.sessions(arm) for arm in scenario.arms}
    capped = {name: n for name, n in due.items() if sessions is not None and n > sessions}
    return Asked(tuple(argv), tuple(sets), capped)


def unlike_its_file(how: Asked, arm: str, sessions: int) -> str:
    """How the arm differs from what its file's expectation holds for; empty where it does not."""
    due = how.sessions.get(arm)
    changes = [f"{sessions} of {due} sessions"] if due else []
    changes += [f"--set {text}" for text in how.sets]
    if not changes:
        return ""
    holds = "for the file as it is" if how.sets else f"for {due}"
    return f"run with {', '.join(changes)}; what the file expects holds {holds}"

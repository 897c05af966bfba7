"""Plans of every kind, and what a test asks of their prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.template import render
from lab.workloads import resolve

if TYPE_CHECKING:
    from lab.records import SessionPlan
    from lab.workloads import WorkloadModel


BY_MANUAL = {"determinism": {"form": "manual"}}  # what makes a load one for the bundled model
# these ask other models, and some need data that is not here
STRANGERS = ("probe_sessions", "replay", "tool_tasks")


def load(kind: str, preset: str = "small", **given: object) -> WorkloadModel:
    """A load that the bundled model can follow."""
    return resolve(kind, preset, {**BY_MANUAL.get(kind, {}), **given})


def plan(kind: str, preset: str = "small", seed: int = 0, **given: object) -> list[SessionPlan]:
    """The sessions of a load that the bundled model can follow."""
    return load(kind, preset, **given).plan(seed)


def prompt(session: SessionPlan) -> list[int]:
    """Token ids of a session's first prompt."""
    messages = [{"role": "system", "content": session.system}, *session.turns[0].prompt_messages]
    return render(messages, session.tools)


def common(a: list[int], b: list[int]) -> int:
    """Tokens on which two prompts agree."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))

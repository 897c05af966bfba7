"""Plans of every kind, and what a test asks of their prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.template import render
from lab.workloads import resolve

if TYPE_CHECKING:
    from lab.records import SessionPlan


def plan(kind: str, preset: str = "small", seed: int = 0, **given: object) -> list[SessionPlan]:
    """The sessions of a load."""
    return resolve(kind, preset, given).plan(seed)


def prompt(session: SessionPlan) -> list[int]:
    """Token ids of a session's first prompt."""
    messages = [{"role": "system", "content": session.system}, *session.turns[0].prompt_messages]
    return render(messages, session.tools)


def common(a: list[int], b: list[int]) -> int:
    """Tokens on which two prompts agree."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))

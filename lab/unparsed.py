"""Servers that were told no parser: what their model writes stands in the text as it was written.

One rule: that is how a server was started, and no corruption; one reply in ten may be either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.surface import finished, shows_thought
from lab.looked import sessions
from lab.pools import control_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.looked import Looked
    from lab.records import ArmHistory

NEARLY_ALL = 0.8  # share of sessions


def no_tool_parser(arm: Looked, arms: Sequence[Looked]) -> str:
    """That nearly every session shows the markup of calls, in its control as well; else empty."""
    if not leaks(arm):
        return ""
    places = [it.history.name for it in arms]
    at = control_of([it.history.settings for it in arms], places.index(arm.history.name))
    if at is None or not leaks(arms[at]):
        return ""
    seen = f"{len(_leaking(arm))} of {len(arm.judged)} sessions show the markup of their calls"
    return f"no tool parser configured? {seen}, one at a time, too"


def leaks(arm: Looked) -> bool:
    """Whether nearly every session of unknown texts shows the markup of calls."""
    return bool(arm.judged) and len(_leaking(arm)) >= NEARLY_ALL * len(arm.judged)


def no_reasoning_parser(history: ArmHistory) -> str:
    """How many replies show their model's thought; empty where none does."""
    whole = [reply for reply in history.replies if reply.due and finished(reply)]
    shown = sum(map(shows_thought, whole))
    said = f"{shown} of {len(whole)} replies show their thought"
    return f"no reasoning parser configured? {said}" if shown else ""


def _leaking(arm: Looked) -> set[int]:
    return sessions(at for at, it in arm.missed.items() if it.detector.startswith("leaked_"))

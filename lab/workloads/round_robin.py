"""Every session's turn k before any session's turn k + 1: the longest way back to a prefix.

Between two turns of a session all others have their own, so what an LRU cache keeps of it is what
it has room for after all of them. The texts are those of ``tool_sessions``. One rule: sessions of
one arm go in step, and within a step by their index.
"""

from __future__ import annotations

from dataclasses import replace

from lab.records import SessionPlan, Stages
from lab.workloads.base import WORKLOADS
from lab.workloads.tool_sessions import ToolSessions


@WORKLOADS.register("round_robin")
class RoundRobin(ToolSessions):
    """Parameters of the load."""

    def plan(self, seed: int) -> list[SessionPlan]:
        """The sessions of ``tool_sessions``, a stage a turn."""
        stages = Stages(circle=0, of_turn=tuple(range(self.turns)))
        return [replace(plan, stages=stages) for plan in super().plan(seed)]

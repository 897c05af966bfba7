"""A, then a flood of other prefixes, then A again: what was cached is evicted before it is needed.

Sessions that return are those of ``tool_sessions``; between two of their turns every session of
the flood has one, over a manual that it shares with nobody. One rule: A goes on only when the
flood is over, so a warm cache that nothing ever left is no part of this load.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pydantic import Field

from lab.records import SessionPlan, Stages
from lab.workloads import manuals
from lab.workloads.arrivals import arrivals, pauses
from lab.workloads.base import WORKLOADS
from lab.workloads.manuals import Words
from lab.workloads.tool_sessions import ToolSessions


@WORKLOADS.register("a_flood_a")
class AFloodA(ToolSessions):
    """Parameters of the load: after each session that returns, ``flood`` sessions of the flood."""

    turns: int = Field(default=4, ge=2, le=64)
    flood: int = Field(default=3, ge=1, le=1000)

    def plan(self, seed: int) -> list[SessionPlan]:
        """Sessions 0, ``flood`` + 1 and so on return; A's turn k is stage 2k."""
        words = Words()
        shared = [
            words.entries(Random(f"{seed}/group/{group}"), self.shared_entries)
            for group in range(self.groups)
        ]
        starts = arrivals(seed, self.sessions, self.arrival_rate)
        plans = []
        for index in range(self.sessions):
            returning, place = divmod(index, self.flood + 1)
            if place:
                plan = self._flooding(seed, index, words)
            else:
                group = returning % self.groups
                plan = self._returning(seed, index, group, shared[group], words)
            plans.append(replace(plan, start_s=starts[index]))
        return plans

    def _returning(
        self, seed: int, index: int, group: int, shared: list[manuals.Entry], words: Words
    ) -> SessionPlan:
        plan = self._session(seed, index, group, shared, words)
        return replace(plan, stages=Stages(circle=0, of_turn=tuple(range(0, 2 * self.turns, 2))))

    def _flooding(self, seed: int, index: int, words: Words) -> SessionPlan:
        """A session with as long a manual, a group of its own, and a turn between A's turns."""
        rng, turns = Random(f"{seed}/session/{index}"), self.turns - 1
        own = words.entries(rng, self.entries)
        refs = words.references(rng, turns)
        return SessionPlan(
            index=index,
            group=self.groups + index,
            system=manuals.system((), own),
            tools=manuals.TOOLS,
            turns=manuals.turns(rng.sample(own, turns), refs),
            secrets=manuals.said(own, refs),
            start_s=0.0,
            think_s=pauses(seed, index, turns, self.think_s),
            stages=Stages(circle=0, of_turn=tuple(range(1, 2 * turns, 2))),
        )

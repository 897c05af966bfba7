"""Twins: the same conversation twice, a turn of the second right behind the same turn of the first.

The shortest way back to a prefix, and the whole of it: the second twin finds every whole page of
its prompt cached, and both end up with the same text in pages of their own. One rule: what a twin
says its twin may say, so the words of a pair are the pair's, and foreign to everybody else.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from lab.records import SessionPlan, Stages
from lab.workloads import manuals
from lab.workloads.arrivals import arrivals, pauses
from lab.workloads.base import WORKLOADS
from lab.workloads.manuals import Words
from lab.workloads.sharing import ManualSessions


@WORKLOADS.register("twins")
class Twins(ManualSessions):
    """Parameters of the load: sessions 2i and 2i + 1 are twins; pairs share nothing."""

    def plan(self, seed: int) -> list[SessionPlan]:
        """The pairs in order; the second twin's turn k is one stage behind the first's."""
        words = Words()
        starts = arrivals(seed, self.sessions, self.arrival_rate)
        plans: list[SessionPlan] = []
        for index in range(0, self.sessions, 2):
            first = replace(self._first(seed, index, words), start_s=starts[index])
            plans += (first, self._second(first))
        return plans[: self.sessions]

    def _first(self, seed: int, index: int, words: Words) -> SessionPlan:
        rng = Random(f"{seed}/pair/{index // 2}")
        own = words.entries(rng, self.entries)
        refs = words.references(rng, self.turns)
        return SessionPlan(
            index=index,
            group=index // 2,
            system=manuals.system((), own),
            tools=manuals.TOOLS,
            turns=manuals.turns(rng.sample(own, self.turns), refs),
            secrets=(),  # the manual's words are the group's
            start_s=0.0,
            think_s=pauses(seed, index, self.turns, self.think_s),
            stages=Stages(circle=index // 2, of_turn=tuple(range(0, 2 * self.turns, 2))),
        )

    def _second(self, first: SessionPlan) -> SessionPlan:
        behind = Stages(circle=first.group, of_turn=tuple(range(1, 2 * self.turns, 2)))
        return replace(first, index=first.index + 1, stages=behind)

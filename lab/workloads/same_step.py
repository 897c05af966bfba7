"""Bursts of sessions with one prefix that nobody computed yet, all at one instant.

A prompt is short (one shared entry and one of its own are about 1,600 tokens), so a prefill step
of production's 8,192 tokens admits several of a burst at once: each must compute the prefix, and
none may be given the pages that another is still writing. One rule: a burst begins when the one
before is over, and its turns are in step, so who shares a step does not depend on the rest.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pydantic import Field

from lab.records import SessionPlan, Stages
from lab.workloads.arrivals import arrivals
from lab.workloads.base import WORKLOADS
from lab.workloads.manuals import Words
from lab.workloads.sharing import ManualSessions


@WORKLOADS.register("same_step")
class SameStep(ManualSessions):
    """Parameters of the load: ``burst`` sessions of one prefix at a time."""

    burst: int = Field(default=4, ge=2, le=1000)

    def plan(self, seed: int) -> list[SessionPlan]:
        """The bursts in order; a burst arrives when its first session does."""
        words = Words()
        starts = arrivals(seed, self.sessions, self.arrival_rate)
        plans = []
        for first in range(0, self.sessions, self.burst):
            group = first // self.burst
            shared = words.entries(Random(f"{seed}/group/{group}"), self.shared_entries)
            stages = Stages(0, tuple(range(group * self.turns, (group + 1) * self.turns)))
            for index in range(first, min(first + self.burst, self.sessions)):
                plan = self._session(seed, index, group, shared, words)
                plans.append(replace(plan, start_s=starts[first], stages=stages))
        return plans

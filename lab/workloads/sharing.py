"""What loads have in common whose sessions read a manual of shared and of own entries.

One rule: the text of session i depends on the seed, on whom it shares with and on i, never on how
many sessions there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from pydantic import Field, model_validator

from lab.records import SessionPlan
from lab.workloads import manuals
from lab.workloads.arrivals import arrivals, pauses
from lab.workloads.base import WorkloadModel

if TYPE_CHECKING:
    from lab.workloads.manuals import Entry, Words


Shared = TypeVar("Shared")  # what the sessions of a group have in common

BESIDE = 8  # the row's own last groups of tokens, always selected, and neighbours of the one sought


class Grouped(Protocol):
    """A load whose session i belongs to group i modulo ``groups``."""

    @property
    def sessions(self) -> int: ...
    @property
    def groups(self) -> int: ...
    @property
    def arrival_rate(self) -> float | None: ...


def in_groups(
    seed: int,
    load: Grouped,
    shared_of: Callable[[Random], Shared],
    session_of: Callable[[int, int, Shared], SessionPlan],
) -> list[SessionPlan]:
    """The sessions in order, ``session_of`` index, group, and what ``shared_of`` gave the group."""
    groups = range(min(load.groups, load.sessions))
    shared = [shared_of(Random(f"{seed}/group/{group}")) for group in groups]
    starts = arrivals(seed, load.sessions, load.arrival_rate)
    return [
        replace(session_of(index, index % load.groups, shared[index % load.groups]), start_s=start)
        for index, start in enumerate(starts)
    ]


class ManualSessions(WorkloadModel):
    """Parameters of every such load. An entry is about 300 tokens."""

    shared_entries: int = Field(default=11, ge=0)
    private_entries: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _enough_entries(self) -> Self:
        private, shared = -(-self.turns // 2), self.turns // 2
        if not self.by_manual:
            return self
        if self.private_entries < private or self.shared_entries < shared:
            raise ValueError(
                f"{self.turns} turns use {private} private and {shared} shared entries once each; "
                f"there are {self.private_entries} and {self.shared_entries}"
            )
        return self

    @property
    def by_manual(self) -> bool:
        """Whether the sessions read manuals at all."""
        return True

    @property
    def own_entries(self) -> int:
        """Entries of a manual that are the session's own."""
        return self.private_entries

    @property
    def entries(self) -> int:
        """Entries of one manual."""
        return self.shared_entries + self.own_entries

    def least_topk(self) -> int:
        """What is sought may rank behind all that looks alike: other entries, and earlier replies,
        which repeat entries. Three groups for two such places are more than was ever needed.
        """
        places = self.entries + self.turns - 1
        return -(-3 * places // 2) + BESIDE

    def longest_context(self) -> int:
        """Tokens: the longest manual there can be, and every turn run away to ``max_tokens``."""
        replies = self.turns * (manuals.TURN_OVERHEAD + self.max_tokens)
        return manuals.longest_prompt(self.entries) + replies

    def _session(
        self,
        seed: int,
        index: int,
        group: int,
        shared: Sequence[Entry],
        words: Words,
        between: str = "",
    ) -> SessionPlan:
        """Session ``index`` of ``group``: shared entries, ``between``, its own; it arrives at 0."""
        rng = Random(f"{seed}/session/{index}")
        own = words.entries(rng, self.own_entries, shared)
        path = manuals.path(rng, own, shared, self.turns)
        refs = words.references(rng, len(path))
        return SessionPlan(
            index=index,
            group=group,
            system=manuals.system(shared, own, between),
            tools=manuals.TOOLS,
            turns=manuals.turns(path, refs),
            secrets=manuals.said(own, refs),
            start_s=0.0,
            think_s=pauses(seed, index, self.turns, self.think_s),
        )

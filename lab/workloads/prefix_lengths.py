"""Prefixes of P - 1, P and P + 1 tokens around page boundaries, where off-by-ones live.

Sessions come in families. The prompts of a family agree on exactly ``prefix_tokens`` tokens, one
token less than whole pages, whole pages, or one more, and differ in the very next token; their
own length is cut the same way. Families go through 1, 2, ... shared entries, an entry being longer
than a page, and so from boundary to boundary. One rule: lengths are those of the rendered prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from string import ascii_lowercase
from typing import TYPE_CHECKING

from pydantic import Field

from engine.config import PAGE_TOKENS
from engine.text.template import render
from lab.workloads import manuals
from lab.workloads.arrivals import arrivals
from lab.workloads.base import WORKLOADS
from lab.workloads.manuals import Entry, Words
from lab.workloads.sharing import ManualSessions

if TYPE_CHECKING:
    from lab.records import SessionPlan

AROUND = (-1, 0, 1)  # tokens beside a page boundary


@dataclass(frozen=True)
class Family:
    """Sessions of one prefix: its entries, and by how much its lengths miss whole pages."""

    group: int
    shared: list[Entry]
    off: int

    @property
    def prefix_tokens(self) -> int:
        """Tokens that the family's prompts agree on."""
        return beside(manuals.head_tokens(self.shared), self.off)


@WORKLOADS.register("prefix_lengths")
class PrefixLengths(ManualSessions):
    """Parameters of the load: ``members`` sessions a family, a letter for each."""

    members: int = Field(default=2, ge=2, le=len(ascii_lowercase))

    @property
    def own_entries(self) -> int:
        """The texts that fill up pages take the room of two entries, where the turns allow."""
        return max(-(-self.turns // 2), self.private_entries - 2)

    def longest_context(self) -> int:
        """Tokens: as for any manual, and two texts that fill up a page."""
        return super().longest_context() + 2 * (PAGE_TOKENS + 1)

    def plan(self, seed: int) -> list[SessionPlan]:
        """The families in order; each goes through all offsets before it takes one more entry."""
        words = Words()
        starts = arrivals(seed, self.sessions, self.arrival_rate)
        plans = []
        for family in self._families(seed, words):
            first = family.group * self.members
            for index in range(first, min(first + self.members, self.sessions)):
                plan = self._member(seed, index, family, words)
                plans.append(replace(plan, start_s=starts[index]))
        return plans

    def _families(self, seed: int, words: Words) -> Iterator[Family]:
        """At least the shared entries that the turns ask for, at most ``shared_entries``."""
        least = max(1, self.turns // 2)
        choices = max(1, self.shared_entries - least + 1)
        for group in range(-(-self.sessions // self.members)):
            step, off = divmod(group, len(AROUND))
            rng = Random(f"{seed}/family/{group}")
            yield Family(group, words.entries(rng, least + step % choices), AROUND[off])

    def _member(self, seed: int, index: int, family: Family, words: Words) -> SessionPlan:
        """A session that leaves its family's prefix after ``prefix_tokens`` tokens, at a letter."""
        rng = Random(f"{seed}/notes/{family.group}")
        room = family.prefix_tokens - manuals.head_tokens(family.shared)
        between = manuals.notes(rng, room) + ascii_lowercase[index % self.members]
        plan = self._session(seed, index, family.group, family.shared, words, between)
        length = prompt_tokens(plan)
        more = manuals.notes(rng, beside(length, family.off) - length)
        return replace(plan, system=manuals.lengthened(plan.system, more))


def prompt_tokens(plan: SessionPlan) -> int:
    """Tokens of the session's first prompt, as the template renders it."""
    system = {"role": "system", "content": plan.system}
    return len(render([system, *plan.turns[0].prompt_messages], plan.tools))


def beside(tokens: int, off: int) -> int:
    """The least number of tokens, ``tokens`` or more, that misses whole pages by ``off``."""
    return -(-(tokens - off) // PAGE_TOKENS) * PAGE_TOKENS + off

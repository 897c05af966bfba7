"""The same questions again: cold and alone, warm, in a flood, and after the flood has evicted them.

A question is asked alone, then again while its prefix is cached, then beside ``flood`` sessions of
other prefixes, then alone once more. At temperature 0 all four replies must be equal; the first is
the oracle, so any model will do. One rule: a question's stages follow each other, so nobody but the
flood is ever beside it, at any concurrency.

What the server was asked before the arm may be cached: a control is cold where its boot is new.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from lab.records import Repeat, SessionPlan, Stages
from lab.workloads import manuals
from lab.workloads.arrivals import arrivals
from lab.workloads.base import WORKLOADS
from lab.workloads.manuals import Words
from lab.workloads.natural import NATURAL_ONLY, Form, code, prose, told
from lab.workloads.sharing import ManualSessions

if TYPE_CHECKING:
    from lab.records import TurnPlan
    from lab.workloads.schemas import Tool

    Prompt = tuple[str, tuple[Tool, ...], TurnPlan]  # the system's text, tools, the question

BEFORE = ("cold", "warm", "in a flood")  # the question's sessions before those of the flood
FLOOD, EVICTED = "flood", "evicted"


@WORKLOADS.register("determinism")
class Determinism(ManualSessions):
    """Parameters of the load: ``flood`` + 4 sessions a question.

    A prompt in plain words is about ``prompt_tokens`` long and asks for ``reply_words`` words; by
    a manual, for the bundled model, it has as many entries as any session's.
    """

    own_sizes: ClassVar[tuple[str, ...]] = ("turns",)

    turns: int = Field(default=1, ge=1, le=1)
    form: Form = "natural"
    flood: int = Field(default=4, ge=1, le=1000)
    prompt_tokens: int = Field(default=2000, ge=1, le=10_000_000)
    reply_words: int = Field(default=60, ge=1, le=100_000)

    @property
    def by_manual(self) -> bool:
        """Whether it is the bundled model that is asked."""
        return self.form == "manual"

    def plan(self, seed: int) -> list[SessionPlan]:
        """Question after question: cold, warm, in a flood, the flood itself, evicted."""
        words = Words()
        starts = arrivals(seed, self.sessions, self.arrival_rate)
        plans: list[SessionPlan] = []
        for first in range(0, self.sessions, self.flood + 4):
            plans += self._question(seed, first, words)
        return [replace(it, start_s=at) for it, at in zip(plans, starts, strict=False)]

    def longest_context(self) -> int:
        """Tokens: as for any manual; in plain words about."""
        if self.by_manual:
            return super().longest_context()
        return self.prompt_tokens + 2 * self.max_tokens

    def beyond_bundled(self) -> str:
        """Plain words are."""
        return "" if self.by_manual else NATURAL_ONLY

    def _question(self, seed: int, first: int, words: Words) -> list[SessionPlan]:
        """The sessions of the question that session ``first`` is the first to ask."""
        asked, stage = self._prompt(seed, first, words), 4 * (first // (self.flood + 4))
        plans = [_again(asked, first, phase, stage + at) for at, phase in enumerate(BEFORE)]
        for index in range(first + len(BEFORE), first + len(BEFORE) + self.flood):
            plans.append(_again(self._prompt(seed, index, words), index, FLOOD, stage + 2))
        plans.append(_again(asked, first, EVICTED, stage + 3))
        return [replace(plan, index=first + place) for place, plan in enumerate(plans)]

    def _prompt(self, seed: int, index: int, words: Words) -> SessionPlan:
        """What session ``index`` would ask if nobody had asked it before."""
        rng = Random(f"{seed}/session/{index}")
        make = self._by_manual if self.by_manual else self._in_plain_words
        system, tools, turn = make(rng, words)
        return SessionPlan(
            index=index,
            group=index,
            system=system,
            tools=tools,
            turns=(turn,),
            secrets=(),  # the prompt's words are the group's
            start_s=0.0,
            think_s=(0.0,),
        )

    def _by_manual(self, rng: Random, words: Words) -> Prompt:
        own = words.entries(rng, self.entries)
        [turn] = manuals.turns(rng.sample(own, 1), words.references(rng, 1))
        return manuals.system((), own), manuals.TOOLS, turn

    def _in_plain_words(self, rng: Random, words: Words) -> Prompt:
        secret = code(rng, words)
        text = prose(rng, self.prompt_tokens)
        return f"The code is {secret}.\n{text}", (), told(secret, self.reply_words)


def _again(plan: SessionPlan, of: int, phase: str, stage: int) -> SessionPlan:
    """The plan as it is asked in one phase."""
    return replace(plan, group=of, stages=Stages(0, (stage,)), repeats=Repeat(of, phase))

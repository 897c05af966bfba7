"""What every load must offer, and the registry of loads by kind.

One rule: parameters are a frozen pydantic model; an unknown key is the model's error to report.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lab.errors import UserError
from lab.registry import Registry
from lab.workloads.presets import PRESETS

if TYPE_CHECKING:
    from lab.records import SessionPlan


LONGEST_S = 1_000_000  # a pause or a patience, seconds; "never" is not a number
Index = Annotated[int, Field(ge=0)]
Soon = Annotated[float, Field(gt=0, le=LONGEST_S)]
Cancel = Annotated[tuple[Index, Index, Soon], Field(strict=False)]


class WorkloadModel(BaseModel):
    """Parameters that all loads share. Durations in seconds of the arm's clock.

    ``think_s`` is the mean pause before a turn; ``max_tokens`` and ``timeout_s`` bound one reply.
    ``stall_s`` is the longest pause within a streamed reply that a client bears; None: any.
    ``retries`` is how often a client asks again, 1 s after a transport error or a timeout; never on
    by default, since retries hide faults.
    ``arrival_rate`` (sessions a second; None: all at once) and ``abort_rate`` (chance that a client
    leaves in mid-reply) are set by the toggles of these names, not by a scenario's workload.
    A client that leaves does so within ``abort_within_s`` of sending; ``cancels`` names others that
    leave: session, turn, seconds after sending.
    ``only`` names the sessions that are run of those that are planned, ``only_turns`` how many
    turns each of them has, in the same order; None: all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    own_sizes: ClassVar[tuple[str, ...]] = ()  # what a kind decides for itself, whatever the preset
    texts_known: ClassVar[bool] = False  # whether every server that can follow it says the same

    sessions: int = Field(default=60, ge=1, le=100_000)
    turns: int = Field(default=4, ge=1, le=64)
    stream: bool = True
    think_s: float = Field(default=0.0, ge=0, le=LONGEST_S)
    arrival_rate: float | None = Field(default=None, gt=0)
    abort_rate: float = Field(default=0.0, ge=0, le=1)
    abort_within_s: float = Field(default=2.0, gt=0, le=LONGEST_S)
    cancels: list[Cancel] | None = Field(default=None, min_length=1)
    max_tokens: int = Field(default=420, ge=1)
    timeout_s: float = Field(default=600.0, gt=0, le=LONGEST_S)
    stall_s: float | None = Field(default=None, gt=0, le=LONGEST_S)
    retries: int = Field(default=0, ge=0, le=100)
    only: list[int] | None = Field(default=None, min_length=1)
    only_turns: list[Annotated[int, Field(ge=1)]] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _only_planned(self) -> Self:
        strangers = sorted(set(self.only or ()) - set(range(self.sessions)))
        if strangers:
            raise ValueError(f"only: no session {strangers[0]}; accepted: 0 to {self.sessions - 1}")
        named, given = len(self.only or ()), len(self.only_turns or ())
        if self.only_turns is not None and named != given:
            what = f"{given} numbers for {named} sessions of `only`"
            raise ValueError(f"only_turns: {what}; accepted: {named}")
        return self

    @model_validator(mode="after")
    def _cancels_planned(self) -> Self:
        for session, _, _ in self.cancels or ():
            if session >= self.sessions:
                what = f"cancels: no session {session}"
                raise ValueError(f"{what}; accepted: 0 to {self.sessions - 1}")
        return self

    @abstractmethod
    def plan(self, seed: int) -> list[SessionPlan]:
        """The sessions in order of their index."""

    def kept(self, seed: int) -> list[SessionPlan]:
        """The planned sessions that are run: what they say does not depend on what is left out."""
        plans = self.plan(seed)
        if self.only is None:
            return plans
        every = [self.turns] * len(self.only)
        turns = dict(zip(self.only, self.only_turns or every, strict=True))
        return [first_turns(it, turns[it.index]) for it in plans if it.index in turns]

    @abstractmethod
    def longest_context(self) -> int:
        """Tokens that the longest conversation can reach, runaway replies included."""

    def lacks(self) -> str:
        """Why its ``data`` cannot be read, in one line; empty where it can, or it has none."""
        return ""

    def beyond_bundled(self) -> str:
        """Why the bundled model cannot follow this load, and what it can; empty where it can."""
        return ""

    def least_topk(self) -> int:
        """c4 entries that a step must select for a healthy model to find its place."""
        return 1


def first_turns(plan: SessionPlan, turns: int) -> SessionPlan:
    """The plan of a client that is content after so many turns."""
    stages = plan.stages and replace(plan.stages, of_turn=plan.stages.of_turn[:turns])
    return replace(plan, turns=plan.turns[:turns], think_s=plan.think_s[:turns], stages=stages)


WORKLOADS: Registry[type[WorkloadModel]] = Registry("workload", "lab.workloads")


def resolve(kind: str, preset: str, given: Mapping[str, Any]) -> WorkloadModel:
    """The validated parameters: the preset's, overridden by what was given (None = not given).

    A preset serves every kind: of its numbers a kind takes those that it has a parameter for.
    Raises ``UserError`` for an unknown kind or preset, pydantic's ``ValidationError`` for a key.
    """
    kinds = WORKLOADS.all()
    if kind not in kinds:
        raise UserError(f"workload.kind: unknown {kind!r}; accepted: {', '.join(kinds)}")
    if preset not in PRESETS:
        raise UserError(f"workload.preset: unknown {preset!r}; accepted: {', '.join(PRESETS)}")
    chosen = {key: value for key, value in given.items() if value is not None}
    model = kinds[kind]
    taken = [key for key in model.model_fields if key not in model.own_sizes]
    sizes = {k: v for k, v in PRESETS[preset].workload.items() if k in taken}
    return model.model_validate({**sizes, **chosen})

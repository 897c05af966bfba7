"""Every probe that was paid for. One rule: nothing is asked of a world but through the notebook.

Seeds are numbered. Phases that compare arms seed by seed ask for ``paired`` trials: the first
paired trial of every configuration has the same index in that phase. All others are fresh: no index
is used twice. Pairs of one phase, and fresh trials, never share an index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from lab.bisect.trials import Outcome, Trial, Unit, sessions, tally

if TYPE_CHECKING:
    from lab.bisect.space import Config
    from lab.bisect.trials import Tally

PAIRED_FROM = 1_000_000  # indices of paired trials begin here, a million further for each phase


class Phase(StrEnum):
    """The phases, in order."""

    REPRODUCE = "reproduce"
    CONTROL = "control"
    DISCOVER = "discover"
    CONFIRM = "confirm"
    THRESHOLD = "threshold"


class Refused(Exception):
    """The target cannot run this configuration; the message is one line."""


class OutOfBudget(Exception):
    """Not one trial more would fit what is left."""


class World(Protocol):
    """What is bisected: answers probes, and says what they cost."""

    @property
    def batch_sessions(self) -> int:
        """Sessions of one trial."""

    @property
    def boot_cost(self) -> float:
        """What starting another configuration costs, in sessions."""

    def probe(self, config: Config, indices: range) -> Outcome:
        """One trial an index, in order; raises `Refused` where it cannot run the configuration."""

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        """Why these trials prove nothing about the configuration: paths never taken; else empty."""


@dataclass(frozen=True)
class Probe:
    """One question and its answer."""

    phase: Phase
    config: Config
    outcome: Outcome

    @property
    def sessions(self) -> int:
        """What it cost."""
        return sessions(self.outcome)


class Notebook:
    """The probes so far, the budget, and who is told of every new probe."""

    def __init__(
        self, world: World, budget: int, told: Callable[[Probe], None] = lambda probe: None
    ) -> None:
        self.world, self.budget, self._told = world, budget, told
        self.probes: list[Probe] = []
        self.refused: dict[Config, str] = {}
        self._spent = self._fresh = 0
        self._paired: dict[tuple[Phase, Config], int] = {}

    @property
    def spent(self) -> int:
        """Sessions driven so far."""
        return self._spent

    def trials_for(self, units: int, unit: Unit) -> int:
        """The trials that show at least ``units`` units."""
        each = 1 if unit is Unit.BOOT else self.world.batch_sessions
        return max(1, -(-units // each))

    def ask(self, phase: Phase, config: Config, trials: int, *, paired: bool = False) -> Outcome:
        """Run ``trials`` trials, or as many as are left; `OutOfBudget` of none, or `Refused`."""
        trials = min(trials, (self.budget - self.spent) // self.world.batch_sessions)
        if trials <= 0:
            raise OutOfBudget(f"{self.spent} of {self.budget} sessions are spent")
        indices = self._indices(phase, config, trials, paired)
        try:
            outcome = self.world.probe(config, indices)
        except Refused as refusal:
            self.refused[config] = str(refusal)
            raise
        probe = Probe(phase, config, outcome)
        self.probes.append(probe)
        self._spent += probe.sessions
        self._told(probe)
        return outcome

    def trials(self, config: Config | None = None, *phases: Phase) -> list[Trial]:
        """What was seen: of one configuration or all, in some phases or all."""
        return [
            trial
            for probe in self.probes
            if (config is None or probe.config == config) and (not phases or probe.phase in phases)
            for trial in probe.outcome
        ]

    def tally(self, config: Config, unit: Unit, *phases: Phase) -> Tally:
        """The same, counted."""
        return tally(self.trials(config, *phases), unit)

    def _indices(self, phase: Phase, config: Config, trials: int, paired: bool) -> range:
        if not paired:
            first, self._fresh = self._fresh, self._fresh + trials
            return range(first, first + trials)
        begin = PAIRED_FROM * (1 + list(Phase).index(phase))
        done = self._paired.get((phase, config), 0)
        self._paired[phase, config] = done + trials
        return range(begin + done, begin + done + trials)

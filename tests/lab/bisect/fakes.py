"""A world that answers by a script, for what no simulated world does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lab.bisect.notebook import Refused
from lab.bisect.space import Config
from lab.bisect.trials import Outcome, Trial

Script = Callable[[Config, int], Trial]


def corrupt(count: int = 1, sessions: int = 1) -> Script:
    """Every trial has so many corrupt sessions."""
    return lambda config, index: Trial(index, sessions, count)


def clean(sessions: int = 1) -> Script:
    """No trial has any."""
    return corrupt(0, sessions)


def wedged(sessions: int = 1) -> Script:
    """Every trial makes no progress."""
    return lambda config, index: Trial(index, sessions, 0, unknown="wedged", verdict="wedged")


def every(turn: int, yes: Script, no: Script) -> Script:
    """``yes`` for every ``turn``-th index, ``no`` for the others."""
    return lambda config, index: (no if (index + 1) % turn else yes)(config, index)


@dataclass
class ScriptedWorld:
    """``script`` answers every trial; ``refuses`` and ``unexercised_in`` give reasons by arm."""

    script: Script
    batch_sessions: int = 1
    boot_cost: float = 0.0
    refuses: dict[Config, str] = field(default_factory=dict)
    unexercised_in: dict[Config, str] = field(default_factory=dict)
    asked: list[tuple[Config, range]] = field(default_factory=list)
    proofs: list[tuple[Config, int]] = field(default_factory=list)

    def probe(self, config: Config, indices: range) -> Outcome:
        """What the script says, in order; raises `Refused`."""
        self.asked.append((config, indices))
        if config in self.refuses:
            raise Refused(self.refuses[config])
        return tuple(self.script(config, index) for index in indices)

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        """What was given for this arm; notes how many trials it was shown."""
        self.proofs.append((config, len(trials)))
        return self.unexercised_in.get(config, "")

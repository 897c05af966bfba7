"""A world whose culprits are known: what the search is tested and benchmarked on.

One rule: a trial's draw depends on the seed, the configuration and the trial's index alone, so a
search that is resumed sees what it saw before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from lab.bisect.notebook import Refused
from lab.bisect.trials import Outcome, Trial

if TYPE_CHECKING:
    from lab.bisect.space import Config


@dataclass(frozen=True)
class SimulatedWorld:
    """Sessions are corrupt at ``p1`` where a cause is wholly bad, and at ``p0`` elsewhere.

    ``culprits`` is the cause; ``causes`` are several, each by itself enough. ``rho`` correlates the
    sessions of a trial: every boot draws its own rate from a Beta distribution of that mean. Where
    a toggle of ``attenuate`` is bad, ``p1`` is multiplied by its factor. A toggle of ``thresholds``
    that a configuration has at a level is bad from that level on (down, if it is in ``falling``).
    A configuration in which a set of ``refuses`` is wholly bad is refused.
    """

    toggles: tuple[str, ...]
    culprits: frozenset[str] = frozenset()
    p1: float = 0.17
    p0: float = 0.0
    rho: float = 0.0
    attenuate: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    batch_sessions: int = 1
    boot_cost: float = 0.0
    causes: tuple[frozenset[str], ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    falling: frozenset[str] = frozenset()
    refuses: tuple[frozenset[str], ...] = ()

    def probe(self, config: Config, indices: range) -> Outcome:
        """One trial an index; raises `Refused`."""
        for refused in self.refuses:
            if refused <= config.bad:
                raise Refused(f"cannot run with {', '.join(sorted(refused))}")
        name = crc32(repr((sorted(config.bad), config.levels)).encode())
        rate = self.rate(config)
        return tuple(self._trial(name, index, rate) for index in indices)

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        """Nothing: every arm of a simulated world is exercised."""
        return ""

    def rate(self, config: Config) -> float:
        """How often a session of this configuration is corrupt; causes act independently."""
        bad = self.bad(config)
        causes = self.causes or ((self.culprits,) if self.culprits else ())
        factor = prod(by for key, by in self.attenuate.items() if key in bad)
        spared = prod(1 - self.p1 * factor for cause in causes if cause <= bad)
        return max(self.p0, 1 - spared)

    def bad(self, config: Config) -> frozenset[str]:
        """The toggles that are bad, those with a threshold by their level."""
        bad = set(config.bad)
        for key, level in config.levels:
            if key in self.thresholds:
                beyond = level - self.thresholds[key]
                reached = beyond <= 0 if key in self.falling else beyond >= 0
                (bad.add if reached else bad.discard)(key)
        return frozenset(bad)

    def _trial(self, name: int, index: int, rate: float) -> Trial:
        draw = np.random.default_rng([self.seed, name, index])
        if self.rho > 0 and 0 < rate < 1:
            spread = 1 / self.rho - 1
            rate = draw.beta(rate * spread, (1 - rate) * spread)
        corrupt = int(draw.binomial(self.batch_sessions, rate))
        return Trial(index, self.batch_sessions, corrupt, seed=index)

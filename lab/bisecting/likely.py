"""A world that gives the likeliest answer, so that a plan can name the first probes.

One rule: no draw. Of a configuration it says what most of the sets that are left would say, and
keeps those; where the answer is corruption, corrupt sessions are spread evenly at one rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lab.bisect.model import prior
from lab.bisect.trials import Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.bisect.space import Config, Space
    from lab.bisect.trials import Outcome


class LikelyWorld:
    """Sets of at most ``most`` toggles, the heavier ones likelier; ``rate`` where all are bad."""

    boot_cost = 0.0

    def __init__(self, space: Space, most: int, rate: float, batch_sessions: int) -> None:
        self.batch_sessions, self._rate = batch_sessions, rate
        self._space = space
        self._left = dict(zip(*chances(space, most), strict=True))
        self._said: dict[Config, bool] = {space.suspect: True, space.baseline: False}
        self._driven: dict[Config, int] = {}

    def probe(self, config: Config, indices: range) -> Outcome:
        """Trials in which so many sessions are corrupt that the rate is met at every moment."""
        return tuple(self._trial(config, index) for index in indices)

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        """Nothing: what is only imagined goes everywhere."""
        return ""

    def corrupt(self, config: Config) -> bool:
        """Whether most of what is left says so; only what agrees is left afterwards."""
        if config not in self._said:
            mask = self._space.mask(config.bad)
            inside = {some: p for some, p in self._left.items() if some & ~mask == 0}
            self._said[config] = 2 * sum(inside.values()) >= sum(self._left.values())
            outside = {some: p for some, p in self._left.items() if some not in inside}
            self._left = inside if self._said[config] else outside
        return self._said[config]

    def _trial(self, config: Config, index: int) -> Trial:
        rate = self._rate if self.corrupt(config) else 0.0
        before = self._driven.get(config, 0)
        after = self._driven[config] = before + self.batch_sessions
        corrupt = round(after * rate) - round(before * rate)
        return Trial(index, self.batch_sessions, corrupt, seed=index)


def chances(space: Space, most: int) -> tuple[list[int], list[float]]:
    """Every culprit set that is not empty, and how likely it is before anything was run."""
    sets = [mask for mask in space.culprits(most) if mask]
    shares = prior(space, np.array(sets, dtype=np.int64))
    return sets, [float(share) for share in shares / shares.sum()]

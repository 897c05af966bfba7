"""Phase 3: from which level of a numeric knob on the culprits corrupt. A bracket, never a point.

One rule: hypotheses are "the first bad level" at each step of the ladder and "none"; a level is
clean or corrupt by the likelihood of discovery, with a rate that may be lower near the threshold.

Noisy bisection: the level whose next units tell most about the hypotheses is tried next. That
assumes that corruption does not end above its first level, so the top and a level in between are
tried until they are corrupt, too, or shown not to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr
from scipy.stats import binom

from lab.bisect.conclusion import Belief, Bracket
from lab.bisect.model import (
    ATTENUATION_PRIOR,
    ATTENUATIONS,
    BACKGROUND_PRIOR,
    NEVER,
    background,
)
from lab.bisect.notebook import OutOfBudget, Phase, Refused
from lab.bisect.space import Config

if TYPE_CHECKING:
    from lab.bisect.methods import Believe
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Space
    from lab.bisect.trials import Tally, Unit

Floats = NDArray[np.float64]
LITTLE = 1e-5  # nats; what tells less tells nothing: a level that cannot be tried is between


def threshold(
    notebook: Notebook,
    params: Parameters,
    unit: Unit,
    config: Config,
    toggle: str,
    ladder: Sequence[Any],
    rate: float,
    believe: Believe = lambda belief: None,
    space: Space | None = None,
) -> Bracket:
    """The bracket of ``toggle`` with the rest as in ``config``; known so far if the budget ends.

    ``ladder`` goes from the good value to the bad one, both included; ``rate`` is that of
    ``config`` with ``toggle`` bad. Trials of its ends, in any phase, count. ``space`` tells which
    toggles need this one: those are bad only where it is.
    """
    search = _Levels(notebook, params, unit, config, toggle, ladder, rate, believe, space)
    try:
        search.try_level(len(ladder) - 1)
        search.bisect()
        search.check_monotony()
    except OutOfBudget:
        pass  # what is known so far is the answer
    return search.bracket()


class _Levels:
    """The levels, and the hypotheses about the first bad one, [levels + 1]; the last is none."""

    def __init__(
        self,
        notebook: Notebook,
        params: Parameters,
        unit: Unit,
        config: Config,
        toggle: str,
        ladder: Sequence[Any],
        rate: float,
        believe: Believe,
        space: Space | None,
    ) -> None:
        self.notebook, self.params, self.unit = notebook, params, unit
        self.config, self.toggle, self.ladder, self.believe = config, toggle, ladder, believe
        self.rate = params.sought(rate)
        self.rest = config.without(toggle)  # what may be bad where the toggle is not
        if space is not None:
            left = space.without(space.mask(config.bad), toggle)
            self.rest = Config(frozenset(space.keys(left)), config.levels)
        self.enough = log(1 / params.alpha) / (ATTENUATIONS[-1] * self.rate)
        self.batch = min(max(round(1 / self.rate), 1), params.batch)
        self.skipped: set[int] = set()  # refused, or nothing is counted there
        self.background = background(params)
        possible = BACKGROUND_PRIOR[: len(self.background)]
        self.background_prior = possible / possible.sum()
        corrupt = np.arange(self.batch + 1)
        self.outcomes = [  # of a batch, [rates, batch + 1]: if the level is good, if it is bad
            binom.pmf(corrupt, self.batch, rates[:, None])
            for rates in (self.background, ATTENUATIONS * self.rate)
        ]

    def at(self, i: int) -> Config:
        """The configuration of one level; at the ends the toggle is simply good or bad."""
        if i == 0:
            return self.rest
        if i == len(self.ladder) - 1:
            return Config(self.config.bad | {self.toggle}, self.config.levels)
        levels = (*self.config.levels, (self.toggle, self.ladder[i]))
        return Config(self.rest.bad, levels)

    def tally(self, i: int) -> Tally:
        """What a level showed, in any phase."""
        return self.notebook.tally(self.at(i), self.unit)

    def try_level(self, i: int) -> None:
        """A batch at a level, larger once many were run there."""
        before = self.tally(i)
        units = max(self.batch, before.units // 2)
        try:
            trials = self.notebook.trials_for(units, self.unit)
            self.notebook.ask(Phase.THRESHOLD, self.at(i), trials, paired=True)
        except Refused:
            self.skipped.add(i)
            return
        if self.tally(i).units == before.units:
            self.skipped.add(i)
        likely = np.argsort(-self.posterior, kind="stable")
        sets = tuple((self._named(int(j)), float(self.posterior[j])) for j in likely)
        self.believe(Belief(self.notebook.spent, sets))

    def bisect(self) -> None:
        """Until one hypothesis is believed, or no level tells more."""
        while (believed := self.posterior).max() < 1 - self.params.alpha:
            tells = [
                -1.0 if self._given_up(i) else self._information(i, float(believed[: i + 1].sum()))
                for i in range(len(self.ladder))
            ]
            if max(tells) < LITTLE:
                return
            self.try_level(int(np.argmax(tells)))

    def _given_up(self, i: int) -> bool:
        """Whether it cannot be tried, or was in as many units as exclude the lowest rate of all."""
        return i in self.skipped or self.tally(i).units >= self.enough

    def check_monotony(self) -> None:
        """The top, and a level between it and the first bad one, until each is known."""
        first, top = int(self.posterior.argmax()), len(self.ladder) - 1
        for i in dict.fromkeys(((first + top) // 2, top)):
            while first < i and not self._given_up(i) and not self._corrupt(i):
                if self._clean(i):
                    break
                self.try_level(i)

    def bracket(self) -> Bracket:
        """Clean below and bad above, each at 1 - alpha; None where no level is."""
        believed = 1 - self.params.alpha
        bad = np.cumsum(self.posterior)[:-1]  # that the level is bad, [levels]
        clean = [i for i, p in enumerate(bad) if 1 - p >= believed]
        corrupt = [i for i, p in enumerate(bad) if p >= believed]
        last, first = (clean or [-1])[-1], (corrupt or [len(self.ladder)])[0]
        seen = [(i, self.tally(i)) for i in range(len(self.ladder))]
        return Bracket(
            toggle=self.toggle,
            clean_below=self.ladder[last] if clean else None,
            bad_above=self.ladder[first] if corrupt else None,
            steps=tuple((self.ladder[i], counts) for i, counts in seen if counts.units),
            monotone=not any(self._clean(i) for i in corrupt),
            posterior=min(1.0, float(self.posterior[last + 1 : first + 1].sum())),
        )

    @property
    def posterior(self) -> Floats:
        """Of the first bad level, all alike beforehand."""
        counts = [self.tally(i) for i in range(len(self.ladder))]
        as_good = np.array([np.logaddexp.reduce(self._good(c)) for c in counts])
        as_bad = np.array([np.logaddexp.reduce(self._bad(c)) for c in counts])
        each = np.array([as_good[:i].sum() + as_bad[i:].sum() for i in range(len(counts) + 1)])
        found: Floats = np.exp(each - np.logaddexp.reduce(each))
        return found

    def _good(self, counts: Tally) -> Floats:
        return np.asarray(np.log(self.background_prior) + _log(counts, self.background))

    def _bad(self, counts: Tally) -> Floats:
        return np.asarray(np.log(ATTENUATION_PRIOR) + _log(counts, ATTENUATIONS * self.rate))

    def _information(self, i: int, bad: float) -> float:
        """Nats that the next batch at a level, corrupt with probability ``bad``, tells."""
        counts = self.tally(i)
        if_good, if_bad = (
            np.exp(seen - np.logaddexp.reduce(seen)) @ outcomes
            for seen, outcomes in zip(
                (self._good(counts), self._bad(counts)), self.outcomes, strict=True
            )
        )
        both = (1 - bad) * if_good + bad * if_bad
        told = (1 - bad) * rel_entr(if_good, both) + bad * rel_entr(if_bad, both)
        return float(told.sum())

    def _corrupt(self, i: int) -> bool:
        """Whether a level is corrupt, whatever the others are."""
        return self._odds(i) > -log(self.params.alpha)

    def _clean(self, i: int) -> bool:
        """Whether it is clean, whatever the others are."""
        return self._odds(i) < log(self.params.alpha)

    def _odds(self, i: int) -> float:
        """Log odds that a level is corrupt, by its own trials."""
        counts = self.tally(i)
        return float(
            np.logaddexp.reduce(self._bad(counts)) - np.logaddexp.reduce(self._good(counts))
        )

    def _named(self, i: int) -> tuple[str, ...]:
        return (f"{self.toggle} from {self.ladder[i]}",) if i < len(self.ladder) else ()


def _log(counts: Tally, rates: Floats) -> Floats:
    """Log of rate^corrupt (1 - rate)^clean, [rates]; finite at a rate of zero."""
    seen = np.log(rates, out=np.full_like(rates, NEVER), where=rates > 0)
    found: Floats = counts.corrupt * seen + (counts.units - counts.corrupt) * np.log1p(-rates)
    return found

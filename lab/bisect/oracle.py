"""Whether a configuration is bad, as a test of its units says. One rule: nothing is tested twice.

Methods that think in *bad* and *good* (ddmin, QuickXplain) ask here. A toggle that lacks what it
needs means nothing, so a configuration is as bad as its valid part. What the target refuses, or
what only shows trials that do not count, is neither: None, like a commit that `git bisect` skips.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from lab.bisect.conclusion import Belief, Discovery
from lab.bisect.notebook import OutOfBudget, Phase, Refused
from lab.bisect.trials import tally

if TYPE_CHECKING:
    from lab.bisect.methods import Believe
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config, Space
    from lab.bisect.trials import Tally, Unit

FRUITLESS = 3  # answers in a row without a unit that counts, after which nothing more is asked


class Test(Protocol):
    """Decides between bad and good from what one configuration has shown."""

    def wanted(self, seen: Tally) -> int:
        """Units to ask for next; only called while `verdict` is None."""

    def verdict(self, seen: Tally) -> bool | None:
        """True: bad. False: good. None: not yet."""


class Oracle:
    """Asks, tests and remembers; all toggles are known to be bad, and none to be good."""

    def __init__(
        self, notebook: Notebook, space: Space, unit: Unit, test: Test, believe: Believe
    ) -> None:
        self.notebook, self.space, self._unit = notebook, space, unit
        self._test, self._believe = test, believe
        self.whole = space.mask(space.toggles)
        self.smallest = self.whole  # the smallest configuration found to be bad
        self._known: dict[int, bool | None] = {self.whole: True, 0: False}

    def bad(self, mask: int) -> bool | None:
        """Whether the configuration is bad; None where that cannot be had."""
        asked = self.space.valid_part(mask)
        if asked not in self._known:
            self._known[asked] = found = self._ask(self.space.config(asked))
            if found and asked.bit_count() < self.smallest.bit_count():
                self.smallest = asked
        return self._known[asked]

    @property
    def skipped(self) -> tuple[int, ...]:
        """The configurations that were asked for and are neither, ascending."""
        return tuple(sorted(mask for mask, found in self._known.items() if found is None))

    def _ask(self, config: Config) -> bool | None:
        seen = self.notebook.tally(config, self._unit)
        fruitless = 0
        while (verdict := self._test.verdict(seen)) is None and fruitless < FRUITLESS:
            trials = self.notebook.trials_for(self._test.wanted(seen), self._unit)
            try:
                more = tally(self.notebook.ask(Phase.DISCOVER, config, trials), self._unit)
            except Refused:
                return None
            fruitless = 0 if more.units else fruitless + 1
            seen += more
            sets = ((self.space.keys(self.smallest), 0.0),)
            self._believe(Belief(self.notebook.spent, sets))
        return verdict


def rate(notebook: Notebook, space: Space, params: Parameters, unit: Unit) -> float:
    """The culprit's rate: as told, else what all toggles bad have shown, never below ``p_min``."""
    seen = notebook.tally(space.suspect, unit).rate
    return params.told if params.told is not None else max(seen, params.p_min)


def background(params: Parameters) -> float:
    """The rate of a good configuration that tests reckon with."""
    return 0.0 if params.exact else params.p_tol


def discovery(oracle: Oracle, minimise: Callable[[Oracle], int]) -> Discovery:
    """What a search over bad and good finds, or the smallest bad set when the budget ends it."""
    space = oracle.space
    try:
        found = minimise(oracle)
    except OutOfBudget as over:
        left = (space.keys(oracle.smallest),)
        return Discovery(None, space.toggles, candidates=left, reason=str(over))
    return Discovery(
        space.keys(found), space.toggles, candidates=(space.keys(found),), reason=_skips(oracle)
    )


def _skips(oracle: Oracle) -> str:
    skipped = len(oracle.skipped)
    return f"{skipped} configurations could not be tested and were skipped" if skipped else ""


def needless(oracle: Oracle, mask: int) -> int:
    """``mask`` less every toggle without which it is bad still, tried from the first on."""
    for i in range(len(oracle.space.toggles)):
        less = oracle.space.valid_part(mask & ~(1 << i))
        if less != mask and oracle.bad(less):
            mask = less
    return mask

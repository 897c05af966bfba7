"""Ask what tells most: a posterior over culprit sets, and the next configuration by information.

One rule: every trial of the notebook counts, whichever phase paid for it.

Where no single set explains what was seen (two causes, each enough), the search starts again within
the smallest corrupt configuration: one cause is wholly inside it. Causes are found one at a time.
Where no set was excluded for long, the culprits may be more than were asked for: the search starts
again there, too, with larger sets among its hypotheses.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING

import numpy as np

from lab.bisect.background import beyond
from lab.bisect.conclusion import Belief, Discovery
from lab.bisect.design import choose, units_at
from lab.bisect.evalues import EValues
from lab.bisect.methods import METHODS
from lab.bisect.model import Model
from lab.bisect.notebook import OutOfBudget, Phase, Refused
from lab.bisect.trials import Tally, Unit, sessions, tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.bisect.methods import Believe
    from lab.bisect.model import Floats
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config, Masks, Space
    from lab.bisect.trials import Trial

TOLD = 8  # sets of a belief
TORN = 0.9  # belief in several causes at which the search goes on in a smaller space
MOST_BOOTS = 3  # of a probe, where a unit is a boot
# Times the clean units that exclude the rate, in which no set was excluded
IMPATIENCE = 8  # ... and larger sets are hypotheses, too
PATIENCE = 20  # ... and the search ends
ANY_SIZE = 10  # toggles of which every set can be a hypothesis; of more, sets of one toggle more
FRUITLESS = 3  # probes without a unit, and a configuration is not asked again
SILENCE = 32  # probes in a row that cost nothing, as no session was owed a reply: the search ends


@METHODS.register("bayes")
def bayes(
    notebook: Notebook, space: Space, params: Parameters, unit: Unit, believe: Believe
) -> Discovery:
    """Discover one cause; ``several`` where no single set explains all that was seen."""
    several = wider = False
    rate = notebook.tally(space.suspect, unit).rate
    while True:
        search = _Search(notebook, space, params, unit, believe, rate, wider)
        found, reason = search.run()
        smaller = search.smallest_corrupt()
        if search.torn and smaller is not None:
            several = True
        elif found is None and search.stalled and not wider:
            wider = True
        else:
            return search.discovery(found, reason, several)
        space = space if smaller is None else space.within(smaller)
        if wider:
            size = len(space.toggles)
            params = replace(params, most=size if size <= ANY_SIZE else params.most + 1)


class _Search:
    """The search for one cause in one space."""

    def __init__(
        self,
        notebook: Notebook,
        space: Space,
        params: Parameters,
        unit: Unit,
        believe: Believe,
        rate: float,
        wider: bool,
    ) -> None:
        self.notebook, self.space, self.params = notebook, space, params
        self.unit, self.believe, self.rate = unit, believe, rate
        self.model = Model(space, params, unit)
        self.e_values = EValues(self.model)
        self.seen: dict[int, list[Trial]] = {}
        self.mute: set[int] = set()  # ran, and showed nothing
        self.fruitless: Counter[int] = Counter()  # probes without a unit
        self.patience = PATIENCE if wider else IMPATIENCE
        self.silence = 0  # probes in a row that cost nothing
        self.since = 0  # units since a set was excluded
        self.counts: dict[int, Tally] = {}
        for probe in notebook.probes:
            if self._mine(probe.config):
                mask = space.mask(probe.config.bad)
                self.seen.setdefault(mask, []).extend(probe.outcome)
        for mask in self.seen:
            self._count(mask)
        self._believe()

    def run(self) -> tuple[tuple[str, ...] | None, str]:
        """Probe until one set is believed; else None, and why."""
        try:
            while not self._decided():
                if self.torn:
                    return None, f"no set of at most {self.params.most} toggles explains it"
                if self.stalled:
                    return None, self._standstill()
                if self.silence >= SILENCE:
                    return None, f"in the last {SILENCE} probes no session was owed a reply"
                if not self._probe():
                    return None, "no configuration that can be run tells the sets apart"
        except OutOfBudget as out:
            return None, str(out)
        return self.space.keys(self.belief.best[0]), ""

    def _decided(self) -> bool:
        """Whether one set is believed, and either alone among causes or seen to be enough."""
        mask, chance = self.belief.best
        if chance < 1 - self.params.alpha:
            return False
        alone = self.counts.get(mask)
        enough = mask and alone is not None and beyond(alone, self.params)
        return bool(enough or chance * (1 - self.belief.several) >= 1 - self.params.alpha)

    @property
    def torn(self) -> bool:
        """Whether no single set explains what was seen in this space."""
        enough = TORN if self.smallest_corrupt() is not None else 1 - self.params.alpha
        return self.belief.several >= enough

    @property
    def stalled(self) -> bool:
        """Whether far more units than exclude the rate at hand excluded no set.

        That is the rate of this space with every toggle bad, or of all spaces if lower. What is
        believed is no measure: where no set explains what was seen it falls and falls.
        """
        whole = self.counts.get((1 << self.model.toggles) - 1, Tally())
        rates = [rate for rate in (whole.rate, self.rate) if rate]
        rate = max(min(rates, default=0.0), self.params.p_min)
        return self.since > self.patience * -log(self.params.alpha) / rate

    def _standstill(self) -> str:
        left = self._kept()
        return f"the last {self.since} {self.unit.value}s excluded none of the {left} sets left"

    def _next(self, trials: int) -> int | None:
        """What tells most; the likeliest set alone where only other causes are still in doubt."""
        configs = self._offered()
        mask, chance = self.belief.best
        if chance >= 1 - self.params.alpha and mask in configs:
            return mask
        units = trials * (1 if self.unit is Unit.BOOT else self.notebook.world.batch_sessions)
        draw = np.random.default_rng([self.params.seed, len(self.notebook.probes)])
        return choose(self.belief, configs, self._costs(configs, trials), units, draw)

    def _probe(self) -> bool:
        """Run what tells most; False where nothing tells anything."""
        trials = self._trials()
        mask = self._next(trials)
        if mask is None:
            return False
        config = self.space.config(mask)
        try:
            outcome = self.notebook.ask(Phase.DISCOVER, config, trials)
        except Refused:
            return True  # like `git bisect skip`: the next best is asked
        self._learn(mask, outcome)
        sets = self.belief.order[:TOLD]
        told = tuple((self._keys(i), float(self.belief.sets[i])) for i in sets)
        self.believe(Belief(self.notebook.spent, told))
        return True

    def _trials(self) -> int:
        most = min(self.params.batch, MOST_BOOTS) if self.unit is Unit.BOOT else self.params.batch
        units = units_at(self.belief.rate, most, self.notebook.world.boot_cost)
        return self.notebook.trials_for(units, self.unit)

    def _offered(self) -> Masks:
        refused = [self.space.mask(c.bad) for c in self.notebook.refused if self._mine(c)]
        configs = self.space.configs
        return np.asarray(configs[~np.isin(configs, [*refused, *sorted(self.mute)])])

    def _costs(self, configs: Masks, trials: int) -> Floats:
        """Sessions, and what it takes to start another configuration than the last."""
        world = self.notebook.world
        costs = np.full(len(configs), float(trials * world.batch_sessions))
        last = self.notebook.probes[-1].config if self.notebook.probes else None
        running = self.space.mask(last.bad) if last and self._mine(last) else -1
        return np.asarray(costs + world.boot_cost * (configs != running))

    def _mine(self, config: Config) -> bool:
        return not config.levels and config.bad <= set(self.space.toggles)

    def _learn(self, mask: int, outcome: Sequence[Trial]) -> None:
        """Count a probe; a configuration that shows nothing time and again is not asked again."""
        units, kept = tally(outcome, self.unit).units, self._kept()
        self.seen.setdefault(mask, []).extend(outcome)
        if self._count(mask):
            self._believe()
        self.silence = 0 if sessions(outcome) else self.silence + 1
        self.fruitless[mask] += not units
        if self.fruitless[mask] >= FRUITLESS:
            self.mute.add(mask)
        self.since = self.since + units if self._kept() == kept else 0

    def _count(self, mask: int) -> bool:
        """Count all that a configuration showed; not asked again if its clean units prove nothing.

        What was corrupt went where its settings point, whatever its counters say.
        """
        trials = self.seen[mask]
        count = tally(trials, self.unit)
        world, config = self.notebook.world, self.space.config(mask)
        if not count.units or not (count.corrupt or not world.unexercised(config, trials)):
            self.mute.add(mask)
            return False
        self.mute.discard(mask)
        self.counts[mask] = count
        return True

    def _believe(self) -> None:
        self.belief = self.model.posterior(self.counts)
        self.e_values.update(self.belief)

    def _kept(self) -> int:
        return len(self.e_values.kept(self.params.alpha))

    def smallest_corrupt(self) -> int | None:
        """The smallest corrupt configuration but the whole; None where the baseline is corrupt."""
        corrupt = [mask for mask, count in self.counts.items() if beyond(count, self.params)]
        within = [mask for mask in corrupt if mask.bit_count() < self.model.toggles]
        if 0 in corrupt or not within:
            return None
        return min(within, key=lambda mask: (mask.bit_count(), mask))

    def _keys(self, position: int) -> tuple[str, ...]:
        return self.space.keys(int(self.model.sets[position]))

    def discovery(self, found: tuple[str, ...] | None, reason: str, several: bool) -> Discovery:
        """What the search came to; sets that are not excluded are told from the likeliest down."""
        kept = {int(mask) for mask in self.e_values.kept(self.params.alpha)}
        order = [i for i in self.belief.order if int(self.model.sets[i]) in kept]
        return Discovery(
            culprits=found,
            context=self.space.toggles,
            posterior=self.belief.best[1],
            candidates=tuple(self._keys(i) for i in order),
            reason=reason,
            several=several,
        )

"""Which culprit sets the data exclude, at any time at which one looks.

One rule: a set that was excluded once stays excluded.

Against S stands the mixture of all hypotheses. Its likelihood over that of S at S's true rates is
a martingale, however configurations are chosen, so it exceeds 1/alpha ever with probability alpha
at most (Ville); the best rates of S in place of the true ones only make the ratio smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import TYPE_CHECKING

import numpy as np

from lab.bisect.model import log_chance

if TYPE_CHECKING:
    from lab.bisect.model import Floats, Model, Posterior
    from lab.bisect.space import Masks
    from lab.bisect.trials import Tally

RATES = np.concatenate([np.geomspace(0.001, 0.5, 60), np.linspace(0.51, 0.999, 50)])  # of sup_p


class EValues:
    """The log e-values against each set, the largest so far."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.largest: Floats = np.zeros(len(model.sets))

    def update(self, belief: Posterior) -> None:
        """Take in what is known now; to be told after every probe of a search."""
        now = belief.log_evidence - best_likelihood(self.model, belief.counts)
        self.largest = np.maximum(self.largest, now)

    def kept(self, alpha: float) -> Masks:
        """The sets that are not excluded: the culprits are among them at 1 - ``alpha``."""
        return np.asarray(self.model.sets[self.largest < -log(alpha)])


def best_likelihood(model: Model, counts: Mapping[int, Tally]) -> Floats:
    """The log likelihood of each set at the rates that fit it best, [sets]."""
    if not counts:
        return np.zeros(len(model.sets))
    rates = np.union1d(RATES, model.p1)
    inside = model.contains(counts).astype(float)  # [configurations, sets]
    with_set = np.logaddexp.reduce(model.log_by_factor(counts.values(), rates), axis=1)
    without = log_chance(counts.values(), model.p0)
    # either rate fits best by itself: each has configurations of its own
    return np.asarray((inside.T @ with_set).max(axis=1) + ((1 - inside).T @ without).max(axis=1))

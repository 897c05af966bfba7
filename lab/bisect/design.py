"""What to run next: the configuration that is expected to tell most about the culprits a session.

One rule: the choice is a function of what is believed, of the costs, and of a seeded generator.

A count Y of n units of configuration x tells I(S; Y | x) = H(Y | x) - sum_S w_S H(Y | S, x), with
each set's own belief about its rates (one shared rate nearly doubles the cost) and weights w
proportional to posterior^(1/2), so that the runners-up are told apart, too. Both terms are sums
over the subsets of x, hence one subset-sum transform gives them for all 2^K configurations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr, gammaln

from lab.bisect.model import log_chance
from lab.bisect.trials import Tally

if TYPE_CHECKING:
    from lab.bisect.model import Floats, Model, Posterior
    from lab.bisect.space import Masks

TEMPER = 0.5
MOST_COUNTS = 16  # counts of more units are told apart in so many groups
SAME = 1e-9  # relative: information that differs by less is equal
NOTHING = 1e-6  # nats: a configuration that tells less tells nothing


def units_at(rate: float, most: int, boot_cost: float = 0.0) -> int:
    """Units of a probe: as many as show one corrupt unit, on average, or half as many where another
    configuration costs nothing to start. At 17 % that saves 7 % of all sessions.
    """
    shown = 1.0 if boot_cost else 0.5
    return int(np.clip(round(shown / rate), 1, most))


def choose(
    belief: Posterior, configs: Masks, costs: Floats, units: int, draw: np.random.Generator
) -> int | None:
    """The configuration of ``configs`` with the most information a cost; None: all tell nothing."""
    told = information(belief, units)[configs]
    if not len(told) or told.max() <= NOTHING:
        return None
    worth = told / costs
    return int(draw.choice(configs[worth >= worth.max() * (1 - SAME)]))


def information(belief: Posterior, units: int) -> Floats:
    """Nats about the culprits in so many units of each configuration, [2 ** toggles]."""
    model = belief.model
    weights = belief.sets**TEMPER / (belief.sets**TEMPER).sum()
    without = belief.p0 @ chances(units, model.p0)  # [sets, counts]
    unseen = chances_attenuated(model, Tally(), units)
    told = _by_subset_sums(belief, weights, belief.p1 @ unseen, without)
    if len(model.factors) > 1:  # a configuration that was run is known to be attenuated, or not
        for mask, tally in belief.counts.items():
            inside = model.contains([mask])[0]
            with_set = belief.p1 @ chances_attenuated(model, tally, units)
            given = np.where(inside[:, None], with_set, without)
            told[mask] = entr(weights @ given).sum() - weights @ entr(given).sum(axis=1)
    return told


def _by_subset_sums(
    belief: Posterior, weights: Floats, with_set: Floats, without: Floats
) -> Floats:
    """Information of all configurations, from the chances [sets, counts] with and without S."""
    entropies = [entr(chance).sum(axis=1, keepdims=True) for chance in (with_set, without)]
    inside = np.hstack([with_set, entropies[0]]) * weights[:, None]
    outside = np.hstack([without, entropies[1]]) * weights[:, None]
    table = np.zeros((inside.shape[1], 1 << belief.model.toggles))
    table[:, belief.model.sets] = (inside - outside).T
    for i in range(belief.model.toggles):
        halves = table.reshape(len(table), -1, 2, 1 << i)
        halves[:, :, 1] += halves[:, :, 0]
    table += outside.sum(axis=0)[:, None]
    return np.asarray(entr(np.maximum(table[:-1], 0)).sum(axis=0) - table[-1])


def chances(units: int, rates: Floats) -> Floats:
    """Binomial chances of each count of corrupt units, or of each group of counts, [rates, k]."""
    counts = np.arange(units + 1)
    ways = gammaln(units + 1) - gammaln(counts + 1) - gammaln(units - counts + 1)
    each = np.exp(ways + log_chance([Tally(units, int(count)) for count in counts], rates).T)
    if units < MOST_COUNTS:
        return np.asarray(each)
    first = np.unique(np.geomspace(1, units + 1, MOST_COUNTS).astype(int)) - 1
    return np.asarray(np.add.reduceat(each, first, axis=1))


def chances_attenuated(model: Model, seen: Tally, units: int) -> Floats:
    """The same of a configuration with the culprits, of which some units are known, [p1, k]."""
    log = model.log_by_factor([seen], model.p1)[0]  # [factors, p1]
    share = np.exp(log - log.max(axis=0))
    share /= share.sum(axis=0)
    every = np.array([chances(units, factor * model.p1) for factor in model.factors])
    return np.asarray(np.einsum("fr,frk->rk", share, every))

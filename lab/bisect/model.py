"""What the counts say about who is to blame: hypotheses, priors and the likelihood.

One rule: the posterior is a function of the counts of each configuration, not of their order.

A hypothesis is a culprit set S with a rate p1 of the configurations that contain it and a rate p0
of all others; both rates are unknown, on a grid. Where innocent toggles may lower p1, the rate of a
configuration is c * p1, its c drawn once a configuration from `ATTENUATIONS`.
The empty set means that no toggle is to blame: every configuration contains it. The whole of a
space is a hypothesis, too, so that a search in a small one can name culprits of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.bisect.trials import Tally, Unit

if TYPE_CHECKING:
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Masks, Space

Floats = NDArray[np.float64]

SIZES = (0.02, 0.49, 0.29, 0.20)  # prior of a culprit set's size; one larger is half as likely
SEVERAL = 0.02  # prior of more causes than one, each of them enough
# p1; its prior is uniform in the rate itself, so a point of this grid counts as its rate. Uniform
# in the logarithm, subsets of the culprits at too low a rate cost a tenth more to exclude.
RATES = np.geomspace(0.01, 0.7, 10)
BOOT_RATES = np.append(RATES, [0.85, 0.97])  # most boots may show it where hardly a session does
BACKGROUND = np.array([0.0, 0.001, 0.0025, 0.005, 0.01])  # p0, of a session
BACKGROUND_PRIOR = np.array([0.5, 0.125, 0.125, 0.125, 0.125])
ABOVE = 1.5  # p1 is at least so many times p0
ATTENUATIONS = np.array([1.0, 0.5, 0.25, 0.12])
ATTENUATION_PRIOR = np.array([0.7, 0.15, 0.1, 0.05])
NEVER = -1e6  # log of a rate of zero; finite, so that it can be multiplied by zero


class Model:
    """The hypotheses of a space. ``sets`` are their masks; arrays [sets, ...] follow that order."""

    def __init__(self, space: Space, params: Parameters, unit: Unit) -> None:
        self.toggles = len(space.toggles)
        every = (*space.culprits(params.most), (1 << self.toggles) - 1)
        self.sets: Masks = np.array(list(dict.fromkeys(every)), dtype=np.int64)
        self.prior = prior(space, self.sets)
        self.p1 = BOOT_RATES if unit is Unit.BOOT else RATES
        self.p0 = background(params)
        kinds = len(ATTENUATIONS) if params.attenuation else 1
        self.factors = ATTENUATIONS[:kinds]
        self.factor_prior = ATTENUATION_PRIOR[:kinds] / ATTENUATION_PRIOR[:kinds].sum()
        likely = self.p1[:, None] * BACKGROUND_PRIOR[: len(self.p0)]  # [p1, p0]
        likely[self.p1[:, None] < ABOVE * self.p0] = 0
        with np.errstate(divide="ignore"):
            self.log_nuisance = np.log(likely / likely.sum())  # [p1, p0]

    def contains(self, masks: Iterable[int]) -> NDArray[np.bool_]:
        """Which configurations contain which set, [configurations, sets]."""
        configs = np.array(list(masks), dtype=np.int64)[:, None]
        return np.asarray((configs & self.sets) == self.sets)

    def log_by_factor(self, tallies: Iterable[Tally], p1: Floats) -> Floats:
        """Log prior of the factor and likelihood of culprits inside, [tallies, factors, p1]."""
        kernel = log_chance(tallies, self.factors[:, None] * p1)
        return np.asarray(np.log(self.factor_prior)[:, None] + kernel)

    def log_likelihood(self, counts: Mapping[int, Tally], p1: Floats, p0: Floats) -> Floats:
        """Log likelihood of the counts of some configurations, [sets, p1, p0]."""
        if not counts:
            return np.zeros((len(self.sets), len(p1), len(p0)))
        inside = self.contains(counts).astype(float)  # [configurations, sets]
        with_set = np.logaddexp.reduce(self.log_by_factor(counts.values(), p1), axis=1)
        without = log_chance(counts.values(), p0)
        both = (inside.T @ with_set)[:, :, None] + ((1 - inside).T @ without)[:, None, :]
        return np.asarray(both)

    def log_several(self, counts: Mapping[int, Tally]) -> float:
        """Log likelihood if no single set explains the counts, averaged over the rates.

        Then a configuration is as likely as not to hold one cause of several: the whole space does,
        the baseline does not, and none tells of another.
        """
        if not counts:
            return 0.0
        with_one = np.logaddexp.reduce(self.log_by_factor(counts.values(), self.p1), axis=1)
        without = log_chance(counts.values(), self.p0)
        masks = np.array(list(counts))[:, None, None]
        some, none = np.broadcast_arrays(with_one[:, :, None], without[:, None, :])
        either = np.logaddexp(some, none) - np.log(2)
        each = np.where(masks == (1 << self.toggles) - 1, some, np.where(masks, either, none))
        return float(np.logaddexp.reduce(each.sum(axis=0) + self.log_nuisance, axis=None))

    def posterior(self, counts: Mapping[int, Tally]) -> Posterior:
        """What is believed after these counts, by the mask of their configuration."""
        return Posterior(self, dict(counts))


class Posterior:
    """Beliefs after some counts: ``sets`` [sets], rates given a set [sets, rates]."""

    def __init__(self, model: Model, counts: dict[int, Tally]) -> None:
        self.model, self.counts = model, counts
        log = model.log_likelihood(counts, model.p1, model.p0) + model.log_nuisance
        log += np.log(model.prior)[:, None, None]
        highest = log.max(axis=(1, 2))  # of each set
        own = np.exp(log - highest[:, None, None])
        shares = own.sum(axis=(1, 2))
        evidence = shares * np.exp(highest - highest.max())
        self.log_evidence = float(highest.max() + np.log(evidence.sum()))
        self.sets: Floats = evidence / evidence.sum()
        own /= shares[:, None, None]
        self.p1, self.p0 = own.sum(axis=2), own.sum(axis=1)

    @cached_property
    def order(self) -> list[int]:
        """Positions of the sets from the likeliest down; equal ones in the model's order."""
        return [int(i) for i in np.argsort(-self.sets, kind="stable")]

    @cached_property
    def several(self) -> float:
        """How likely it is that no single set explains the counts."""
        odds = self.model.log_several(self.counts) - self.log_evidence
        return float(SEVERAL / (SEVERAL + (1 - SEVERAL) * np.exp(min(-odds, 700.0))))

    @property
    def best(self) -> tuple[int, float]:
        """The likeliest set's mask, and its probability."""
        first = self.order[0]
        return int(self.model.sets[first]), float(self.sets[first])

    @property
    def rate(self) -> float:
        """The mean of p1 over all that is believed."""
        return float(self.sets @ self.p1 @ self.model.p1)


def prior(space: Space, sets: Masks) -> Floats:
    """By size, and within a size by the product of the toggles' weights."""
    sizes = np.array([space.size(int(mask)) for mask in sets])
    weights = np.array(
        [prod(space.weights.get(key, 1.0) for key in space.keys(int(mask))) for mask in sets]
    )
    total = np.array([weights[sizes == size].sum() for size in sizes])
    by_size = np.array([*SIZES, *(SIZES[-1] / 2**i for i in range(1, 14))])[sizes]
    share = by_size * weights / total
    return np.asarray(share / share.sum())


def background(params: Parameters) -> Floats:
    """The rates p0 that a unit may have: of a boot, those of its sessions at their most."""
    if params.exact:
        return BACKGROUND[:1]
    return np.asarray(1 - (1 - BACKGROUND) ** params.sessions)


def log_chance(tallies: Iterable[Tally], rates: Floats) -> Floats:
    """Log of rate^corrupt (1 - rate)^clean, [tallies, *rates]; no coefficient."""
    counts = np.array([(tally.corrupt, tally.units - tally.corrupt) for tally in tallies])
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log([rates, 1 - rates]), NEVER)
    return np.asarray(np.tensordot(counts, logs, axes=1))

"""The sets that are not excluded."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from lab.bisect.design import information
from lab.bisect.evalues import RATES, EValues, best_likelihood
from lab.bisect.model import Model
from lab.bisect.parameters import Parameters
from lab.bisect.space import Space
from lab.bisect.trials import Tally, Unit

SPACE = Space(("a", "b", "c", "d"))
A, WHOLE = 0b0001, 0b1111


def model(attenuation: bool = False, exact: bool = True) -> Model:
    return Model(SPACE, Parameters(attenuation=attenuation, exact=exact), Unit.SESSION)


def test_at_first_every_set_is_kept() -> None:
    assert EValues(model()).kept(0.01).tolist() == [*SPACE.culprits(3), WHOLE]


def test_the_best_likelihood_of_a_set_is_at_the_rate_that_was_seen() -> None:
    best = best_likelihood(model(), {0b1111: Tally(40, 10), 0b1110: Tally(40, 0)})
    likelihood = dict(zip((*SPACE.culprits(3), WHOLE), best.tolist(), strict=True))
    assert likelihood[A] == pytest.approx(10 * log(0.25) + 30 * log(0.75), abs=0.05)
    assert likelihood[0b0010] == pytest.approx(10 * log(0.125) + 70 * log(0.875), abs=0.05)


def test_a_set_outside_of_a_corrupt_configuration_is_excluded() -> None:
    values = EValues(model())
    values.update(values.model.posterior({0b0011: Tally(10, 1)}))
    assert all(int(mask) & ~0b0011 == 0 for mask in values.kept(0.01))


def test_a_set_once_excluded_stays_excluded() -> None:
    values = EValues(model(exact=False))
    values.update(values.model.posterior({0b1111: Tally(40, 20), 0b1110: Tally(40, 0)}))
    assert 0b0010 not in values.kept(0.01)
    values.update(values.model.posterior({0b1111: Tally(40, 20), 0b1110: Tally(4000, 2000)}))
    assert 0b0010 not in values.kept(0.01)


@pytest.mark.parametrize("attenuation", [False, True])
def test_the_best_rates_are_those_of_all_pairs_of_rates(attenuation: bool) -> None:
    """Either rate is fitted by itself, which is quicker than all pairs, and the same."""
    unsure = model(attenuation, exact=False)
    counts = {0b1111: Tally(40, 10), 0b1110: Tally(40, 1), 0b0011: Tally(30, 4), 0: Tally(9, 0)}
    rates = np.union1d(RATES, unsure.p1)
    pairs = unsure.log_likelihood(counts, rates, unsure.p0).max(axis=(1, 2))
    assert best_likelihood(unsure, counts) == pytest.approx(pairs)
    assert best_likelihood(unsure, {}).tolist() == [0.0] * len(unsure.sets)


@pytest.mark.parametrize("attenuation", [False, True])
def test_the_truth_is_hardly_ever_excluded_whenever_one_looks(attenuation: bool) -> None:
    """The next configuration is chosen by what was seen, and against the truth: whichever made it
    least likely so far is run again, else what tells most.
    """
    lost, excluded, worlds = 0, 0, 80
    for seed in range(worlds):
        draw = np.random.default_rng([7, seed])
        values = EValues(model(attenuation))
        counts: dict[int, Tally] = {}
        for turn in range(20):
            unlucky = min((c for c in counts if c & A), key=lambda c: counts[c].rate, default=WHOLE)
            told = information(values.model.posterior(counts), 4)
            config = int(told.argmax()) if turn % 2 else unlucky
            corrupt = int(draw.binomial(4, 0.23 if config & A else 0.0))
            counts[config] = counts.get(config, Tally()) + Tally(4, corrupt)
            values.update(values.model.posterior(counts))
        lost += A not in values.kept(0.1)
        excluded += len(values.model.sets) - len(values.kept(0.1))
    assert lost <= 0.1 * worlds
    assert excluded >= 6 * worlds  # and it does exclude others

"""The posterior over culprit sets."""

from __future__ import annotations

from itertools import permutations
from math import comb, exp, log

import numpy as np
import pytest

from lab.bisect.model import (
    ATTENUATION_PRIOR,
    ATTENUATIONS,
    BACKGROUND,
    BACKGROUND_PRIOR,
    RATES,
    SIZES,
    Model,
    background,
)
from lab.bisect.parameters import Parameters
from lab.bisect.space import Space
from lab.bisect.trials import Tally, Unit
from lab.bisect.units import held_to

SPACE = Space(("a", "b", "c", "d"))
PRIOR = (*SIZES, SIZES[-1] / 2)  # the whole of four toggles is a hypothesis, too
COUNTS = {
    0b1111: Tally(20, 5),
    0b0000: Tally(20, 0),
    0b0111: Tally(8, 2),
    0b0101: Tally(6, 0),
    0b1010: Tally(7, 1),
}


def binomial(tally: Tally, rate: float) -> float:
    ways = comb(tally.units, tally.corrupt)
    return ways * rate**tally.corrupt * (1 - rate) ** (tally.units - tally.corrupt)


def by_hand(attenuation: bool, exact: bool) -> dict[int, float]:
    """The posterior, hypothesis by hypothesis and rate by rate."""
    factors = list(zip(ATTENUATIONS, ATTENUATION_PRIOR, strict=True))
    factors = factors if attenuation else [(1.0, 1.0)]
    grid = [
        (p1, p0, share * p1)
        for p1 in RATES
        for p0, share in zip(BACKGROUND, BACKGROUND_PRIOR, strict=True)
        if p1 >= 1.5 * p0 and (p0 == 0 or not exact)
    ]
    weight = {}
    for culprits in (*SPACE.culprits(3), 0b1111):
        weight[culprits] = 0.0
        for p1, p0, share in grid:
            likelihood = 1.0
            for config, tally in COUNTS.items():
                inside = config & culprits == culprits
                likelihood *= (
                    sum(w * binomial(tally, c * p1) for c, w in factors)
                    if inside
                    else binomial(tally, p0)
                )
            weight[culprits] += likelihood * share
        size = culprits.bit_count()
        weight[culprits] *= PRIOR[size] / comb(4, size)
    return {culprits: w / sum(weight.values()) for culprits, w in weight.items()}


@pytest.mark.parametrize("attenuation", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_the_posterior_is_that_of_a_sum_by_hand(attenuation: bool, exact: bool) -> None:
    params = Parameters(attenuation=attenuation, exact=exact)
    belief = Model(SPACE, params, Unit.SESSION).posterior(COUNTS)
    expected = by_hand(attenuation, exact)
    assert belief.sets.tolist() == pytest.approx([expected[int(s)] for s in belief.model.sets])


def test_the_order_of_the_configurations_does_not_matter() -> None:
    model = Model(SPACE, Parameters(exact=False), Unit.SESSION)
    orders = [dict(some) for some in permutations(COUNTS.items())][::17]
    beliefs = [model.posterior(counts).sets for counts in orders]
    assert all(np.allclose(beliefs[0], belief, rtol=1e-9) for belief in beliefs)


def test_without_counts_sizes_have_their_prior_and_weights_count_within_a_size() -> None:
    space = Space(("a", "b", "c", "d"), weights={"b": 3.0})
    model = Model(space, Parameters(), Unit.SESSION)
    belief = model.posterior({})
    chance = dict(zip(model.sets.tolist(), belief.sets.tolist(), strict=True))
    for size, prior in enumerate(PRIOR):
        of_size = sum(p for mask, p in chance.items() if mask.bit_count() == size)
        assert of_size == pytest.approx(prior / sum(PRIOR))
    assert chance[0b0010] == pytest.approx(3 * chance[0b0001])
    assert chance[0b0110] == pytest.approx(3 * chance[0b0101])


def test_with_an_exact_checker_a_corrupt_configuration_contains_the_culprits() -> None:
    model = Model(SPACE, Parameters(exact=True), Unit.SESSION)
    belief = model.posterior({0b0110: Tally(100, 1)})
    outside = (model.sets & 0b0110) != model.sets
    assert belief.sets[outside].max() == 0
    assert belief.sets.sum() == pytest.approx(1)


def test_with_a_background_one_corrupt_unit_excludes_nothing() -> None:
    model = Model(SPACE, Parameters(exact=False), Unit.SESSION)
    assert model.posterior({0b0110: Tally(100, 1)}).sets.min() > 1e-4


def test_only_sets_that_have_what_they_need_are_hypotheses() -> None:
    space = Space(("pd", "queue_size", "graph"), {"queue_size": frozenset({"pd"})})
    model = Model(space, Parameters(), Unit.SESSION)
    assert space.mask(["queue_size"]) not in model.sets
    assert space.mask(["pd", "queue_size"]) in model.sets


def test_the_whole_is_a_hypothesis_once_and_sizes_count_no_toggle_that_comes_with_another() -> None:
    chain = {"d": frozenset("c"), "c": frozenset("b"), "b": frozenset("a")}
    space = Space(tuple("abcdef"), chain)
    model = Model(space, Parameters(), Unit.SESSION)
    sets = model.sets.tolist()
    assert len(sets) == len(set(sets))
    assert sets.count(0b111111) == 1
    prior = dict(zip(sets, model.prior.tolist(), strict=True))
    assert prior[space.mask("abcd")] == prior[space.mask("e")]
    small = Model(Space(tuple("ab")), Parameters(), Unit.SESSION)
    assert small.sets.tolist() == [0, 1, 2, 3]


def test_the_background_of_a_boot_is_that_of_its_sessions() -> None:
    assert background(Parameters()).tolist() == [0.0]
    assert background(Parameters(exact=False)).tolist() == pytest.approx(BACKGROUND.tolist())
    held = held_to(Parameters(exact=False), Unit.BOOT, 24)
    assert Model(SPACE, held, Unit.BOOT).p0[3] == pytest.approx(1 - 0.995**24)


def test_rates_are_believed_set_by_set() -> None:
    model = Model(SPACE, Parameters(attenuation=False), Unit.SESSION)
    belief = model.posterior({0b1111: Tally(60, 10), 0b0111: Tally(60, 0)})
    rates = dict(zip(model.sets.tolist(), (belief.p1 @ model.p1).tolist(), strict=True))
    assert rates[0b1000] == pytest.approx(10 / 60, rel=0.15)
    assert rates[0b0001] == pytest.approx(10 / 120, rel=0.15)


def test_a_boot_may_show_it_almost_always() -> None:
    model = Model(SPACE, Parameters(attenuation=False), Unit.BOOT)
    belief = model.posterior({0b1111: Tally(30, 29)})
    assert belief.rate > 0.9


def test_the_evidence_is_the_likelihood_averaged_over_the_prior() -> None:
    model = Model(SPACE, Parameters(attenuation=False), Unit.SESSION)
    belief = model.posterior({0b1111: Tally(3, 1)})
    expected = log(np.average(RATES * (1 - RATES) ** 2, weights=RATES))
    assert belief.log_evidence == pytest.approx(expected)
    assert exp(model.posterior({}).log_evidence) == pytest.approx(1)

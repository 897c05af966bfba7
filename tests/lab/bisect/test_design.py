"""Which configuration is asked next."""

from __future__ import annotations

import numpy as np
import pytest

from lab.bisect.design import (
    _by_factor,
    chances,
    chances_attenuated,
    choose,
    information,
    units_at,
)
from lab.bisect.model import Floats, Model, Posterior
from lab.bisect.parameters import Parameters
from lab.bisect.space import Masks, Space
from lab.bisect.trials import Tally, Unit

SPACE = Space(tuple("abcde"))
SEEN = {0b11111: Tally(20, 5), 0b00000: Tally(20, 0), 0b00111: Tally(6, 1)}


def believe(attenuation: bool = False, exact: bool = True, space: Space = SPACE) -> Posterior:
    params = Parameters(attenuation=attenuation, exact=exact)
    return Model(space, params, Unit.SESSION).posterior(SEEN)


def pick(belief: Posterior, costs: Floats | None = None, configs: Masks | None = None) -> int:
    configs = SPACE.configs if configs is None else configs
    costs = np.ones(len(configs)) if costs is None else costs
    mask = choose(belief, configs, costs, 4, np.random.default_rng([1]))
    assert mask is not None
    return mask


def entropy(chance: Floats) -> float:
    return float(-sum(p * np.log(p) for p in chance if p > 0))


def by_hand(belief: Posterior, config: int, units: int) -> float:
    """Mutual information of the set and the count, set by set; no attenuation."""
    model = belief.model
    weights = np.sqrt(belief.sets) / np.sqrt(belief.sets).sum()
    rows = [
        belief.p1[i] @ chances(units, model.p1)
        if config & int(mask) == mask
        else belief.p0[i] @ chances(units, model.p0)
        for i, mask in enumerate(model.sets)
    ]
    given = sum(w * entropy(row) for w, row in zip(weights, rows, strict=True))
    return entropy(weights @ np.array(rows)) - given


@pytest.mark.parametrize("exact", [True, False])
def test_the_information_is_that_of_a_sum_by_hand(exact: bool) -> None:
    belief = believe(exact=exact)
    told = information(belief, 4)
    expected = [by_hand(belief, config, 4) for config in range(32)]
    assert told.tolist() == pytest.approx(expected, abs=1e-12)


def test_a_configuration_that_is_known_to_be_attenuated_tells_less() -> None:
    belief = believe(attenuation=True)
    model = belief.model
    many = {**SEEN, 0b00011: Tally(400, 0)}
    fresh, known = (information(model.posterior(c), 4)[0b00011] for c in (SEEN, many))
    assert known < fresh / 5


def test_what_was_run_is_weighed_configuration_by_configuration() -> None:
    """Equal counts share one table, which changes nothing; by hand, and each with its own."""
    counts = {**SEEN, 0b11011: Tally(6, 1), 0b00001: Tally(9, 0), 0b10001: Tally(9, 0)}
    belief = Model(SPACE, Parameters(), Unit.SESSION).posterior(counts)
    model, told = belief.model, information(belief, 4)
    weights = np.sqrt(belief.sets) / np.sqrt(belief.sets).sum()
    for mask, seen in counts.items():
        with_set = belief.p1 @ chances_attenuated(model, [seen], 4)[0]
        without = belief.p0 @ chances(4, model.p0)
        rows = np.where(model.contains([mask])[0][:, None], with_set, without)
        given = sum(w * entropy(row) for w, row in zip(weights, rows, strict=True))
        assert told[mask] == pytest.approx(entropy(weights @ rows) - given, abs=1e-12)


def test_chances_by_factor_are_worked_out_once_for_all_probes_of_so_many_units() -> None:
    """A search of 260 probes made 33 000 of these tables before they were kept."""
    belief = believe(attenuation=True)
    information(belief, 7)
    before = _by_factor.cache_info()
    for units in range(1, 40):
        counts = {**SEEN, 0b00011: Tally(units, 0)}
        information(belief.model.posterior(counts), 7)
    assert _by_factor.cache_info().misses == before.misses
    assert _by_factor.cache_info().hits - before.hits == 2 * 39


def test_chances_of_counts_add_up_to_one_in_groups_too() -> None:
    for units in (1, 6, 40, 300):
        table = chances(units, np.array([0.0, 0.02, 0.5, 0.97]))
        assert table.sum(axis=1).tolist() == pytest.approx([1, 1, 1, 1])
        assert table.shape[1] <= 16
        assert table[0, 0] == 1


def test_the_corrupt_and_the_clean_extremes_tell_little() -> None:
    mask = pick(believe())
    assert mask not in (0b00000, 0b11111)
    assert 0 < (mask & 0b00111).bit_count() < 3  # splits what was corrupt already


def test_a_dear_configuration_is_asked_only_if_it_tells_more_for_its_cost() -> None:
    belief = believe()
    first = pick(belief)
    costs = np.ones(32)
    costs[first] = 50
    assert pick(belief, costs) != first


def test_only_configurations_on_offer_are_asked() -> None:
    belief = believe()
    for seed in range(5):
        offered = np.array([0b00000, 0b00001, 0b11100])
        mask = choose(belief, offered, np.ones(3), 4, np.random.default_rng([seed]))
        assert mask in offered


def test_ties_are_broken_by_the_generator_and_by_nothing_else() -> None:
    belief = Model(SPACE, Parameters(), Unit.SESSION).posterior({0b11111: Tally(20, 5)})
    draws = [
        choose(belief, SPACE.configs, np.ones(32), 4, np.random.default_rng([seed]))
        for seed in (1, 1, 2, 3, 4, 5, 6)
    ]
    assert draws[0] == draws[1]
    assert len(set(draws)) > 1
    assert len({int(mask).bit_count() for mask in draws if mask is not None}) == 1


def test_where_nothing_tells_anything_nothing_is_chosen() -> None:
    belief = believe()
    one = np.random.default_rng([1])
    assert choose(belief, np.array([], dtype=np.int64), np.ones(0), 4, one) is None
    sure = belief.model.posterior({0b11111: Tally(900, 300), 0b11110: Tally(900, 0)})
    assert choose(sure, np.array([0b11111, 0b00000]), np.ones(2), 4, one) is None


def test_sixteen_toggles_are_weighed_whole() -> None:
    space = Space(tuple("abcdefghijklmnop"))
    belief = Model(space, Parameters(), Unit.SESSION).posterior({0xFFFF: Tally(20, 5)})
    told = information(belief, 6)
    assert told.shape == (65536,)
    assert 8 <= int(told.argmax()).bit_count() <= 15


def test_a_probe_has_as_many_units_as_show_one_corrupt_or_half_where_a_boot_costs_nothing() -> None:
    rates = (0.9, 0.47, 0.17, 0.05)
    assert [units_at(rate, 10, boot_cost=40) for rate in rates] == [1, 2, 6, 10]
    assert [units_at(rate, 10) for rate in rates] == [1, 1, 3, 10]

"""Sessions of a boot count one by one only where they are shown to be independent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.bisect.notebook import Notebook, Phase
from lab.bisect.parameters import Parameters
from lab.bisect.space import Space
from lab.bisect.trials import Unit
from lab.bisect.units import (
    WORST,
    assumed,
    boot_rate,
    choose,
    design_effect,
    first,
    held_to,
    independent,
)
from lab.bisect.worlds import SimulatedWorld
from lab.stats import boot_correlation
from tests.lab.bisect.fakes import ScriptedWorld, corrupt

SPACE = Space(("graph", "pd"))
PARAMS = Parameters()
BATCH = 10
Boots = list[tuple[int, int]]


def boots(count: int, rate: float, rho: float, seed: int) -> Boots:
    """What so many boots with every toggle bad show."""
    world = SimulatedWorld(
        SPACE.toggles, frozenset({"pd"}), p1=rate, rho=rho, seed=seed, batch_sessions=BATCH
    )
    seen = world.probe(SPACE.suspect, range(count))
    return [(trial.corrupt, trial.sessions) for trial in seen]


def share(count: int, rate: float, rho: float, worlds: int = 200) -> float:
    """How often sessions are taken for independent."""
    return float(np.mean([independent(boots(count, rate, rho, seed)) for seed in range(worlds)]))


@pytest.mark.parametrize("count", [6, 12, 40])
@pytest.mark.parametrize("rate", [0.02, 0.06, 0.17, 0.47])
def test_correlated_sessions_are_hardly_ever_taken_for_independent(count: int, rate: float) -> None:
    assert share(count, rate, rho=0.2) <= 0.02


def test_a_test_of_correlation_by_itself_misses_it_in_most_few_boots() -> None:
    """Why its silence does not earn sessions: in six boots a correlation of .2 is mostly missed."""
    silent = [boot_correlation(boots(6, 0.17, 0.2, seed)).p_value >= 0.05 for seed in range(200)]
    assert np.mean(silent) > 0.4


def test_many_boots_of_independent_sessions_earn_them_as_units() -> None:
    assert share(80, 0.17, rho=0.0, worlds=20) >= 0.7


@pytest.mark.parametrize(("sessions", "boots"), [(8, 49), (24, 28)])
def test_the_rate_sought_is_not_missed_though_the_sessions_of_a_boot_correlate(
    sessions: int, boots: int
) -> None:
    held = held_to(PARAMS, Unit.BOOT, sessions)
    assert held.clean_units == boots
    world = SimulatedWorld(
        SPACE.toggles, frozenset({"pd"}), p1=PARAMS.p_min, rho=WORST, batch_sessions=sessions
    )
    seen = world.probe(SPACE.suspect, range(4000))
    corrupt = float(np.mean([trial.corrupt > 0 for trial in seen]))
    assert corrupt == pytest.approx(held.p_min, abs=0.015)
    assert (1 - held.p_min) ** boots <= PARAMS.alpha
    assert (1 - boot_rate(PARAMS.p_min, sessions, 0.05)) ** boots < PARAMS.alpha  # less of it


def test_a_boot_of_one_session_has_its_rate_and_one_of_more_has_more() -> None:
    assert boot_rate(0.02, 1) == pytest.approx(0.02)
    assert boot_rate(0.02, 2) == pytest.approx(1 - 0.98 * (1 - 0.08 / 5))
    assert boot_rate(0.02, 24) < 1 - 0.98**24


def test_a_boot_wedges_as_a_whole_so_no_rate_of_wedges_is_scaled() -> None:
    sought = replace(PARAMS, outcome="wedged")
    held = held_to(sought, Unit.BOOT, 24)
    assert (held.p_min, held.p_tol, held.sessions) == (PARAMS.p_min, PARAMS.p_tol, 1)
    assert assumed(sought, Unit.BOOT, 24) == ""


def test_an_exact_checker_keeps_its_bound_on_the_background_and_another_has_that_of_boots() -> None:
    assert held_to(PARAMS, Unit.BOOT, 24).p_tol == PARAMS.p_tol
    unsure = held_to(replace(PARAMS, exact=False), Unit.BOOT, 24)
    assert unsure.p_tol == pytest.approx(1 - 0.99**24)


def test_what_is_assumed_of_a_boots_sessions_is_said() -> None:
    said = assumed(PARAMS, Unit.BOOT, 24)
    assert "2 % of the sessions are 15 % of the boots" in said
    assert "correlate by 0.2" in said
    assert assumed(PARAMS, Unit.SESSION, 24) == ""


def test_few_corrupt_sessions_show_nothing_about_boots() -> None:
    spread = [(1, 10)] * 15 + [(0, 10)] * 85
    assert design_effect(spread) < 1.5
    assert not independent(spread)


def test_boots_that_are_wholly_corrupt_or_clean_have_no_bound() -> None:
    assert design_effect([(10, 10)] * 5) == float("inf")
    assert design_effect([(0, 10)] * 5) == float("inf")
    assert design_effect([(3, 10)]) == float("inf")


def test_a_strong_correlation_raises_the_bound_on_the_design_effect() -> None:
    assert design_effect([(9, 10), (0, 10)] * 6) > design_effect([(5, 10), (4, 10)] * 6)


def chosen(params: Parameters, batch_sessions: int) -> Unit:
    """The unit after six boots that are all alike."""
    world = ScriptedWorld(corrupt(1, batch_sessions), batch_sessions=batch_sessions)
    book = Notebook(world, 1000)
    book.ask(Phase.REPRODUCE, SPACE.suspect, 6)
    return choose(book, SPACE, params)


def test_what_is_asked_for_is_taken() -> None:
    assert chosen(replace(PARAMS, unit="session"), 8) is Unit.SESSION
    assert chosen(replace(PARAMS, unit="boot"), 8) is Unit.BOOT


def test_a_session_a_boot_is_a_session() -> None:
    assert chosen(PARAMS, 1) is Unit.SESSION
    assert first(PARAMS, 1) is Unit.SESSION


def test_boots_with_few_corrupt_sessions_earn_none_by_being_alike() -> None:
    assert first(PARAMS, 8) is Unit.BOOT
    assert chosen(PARAMS, 8) is Unit.BOOT


def test_rates_of_boots_that_were_asked_for_by_name_stay_as_given() -> None:
    asked = replace(PARAMS, unit="boot")
    assert held_to(asked, Unit.BOOT, 8) == asked
    assert held_to(PARAMS, Unit.SESSION, 8) == replace(PARAMS, unit="session")

"""ddmin finds a 1-minimal set, in the probes that its authors promise."""

from __future__ import annotations

import pytest

from lab.bisect.methods import METHODS
from lab.bisect.methods.ddmin import ddmin, ddmin_wald, split
from lab.bisect.notebook import Notebook, Phase
from lab.bisect.parameters import Parameters
from lab.bisect.probe_tests import size
from lab.bisect.space import Config, Space
from lab.bisect.trials import Tally, Unit
from lab.bisect.worlds import SimulatedWorld
from tests.lab.bisect.searches import (
    CERTAIN,
    TOGGLES,
    Minimise,
    Search,
    certain,
    subsets,
    wrong,
)

BOTH = pytest.mark.parametrize("method", [ddmin, ddmin_wald])


def test_it_is_a_method_that_can_be_asked_for() -> None:
    assert METHODS.all()["ddmin"] is ddmin


@BOTH
def test_without_chance_it_finds_every_set_of_seven_toggles(method: Minimise) -> None:
    for culprits in subsets(7, range(1, 8)):
        assert Search(method, certain(7, *culprits)).found.culprits == culprits


def test_it_never_asks_for_more_probes_than_its_authors_say() -> None:
    """Zeller & Hildebrandt, proposition 12: at most |c|^2 + 3 |c| tests."""
    most = max(Search(ddmin, certain(7, *some)).probes for some in subsets(7, range(1, 8)))
    assert 20 <= most <= 7**2 + 3 * 7


def test_a_single_culprit_takes_two_probes_a_halving() -> None:
    """Proposition 13: with one cause at most 2 log2 |c| tests."""
    for key in TOGGLES[:8]:
        assert Search(ddmin, certain(8, key)).probes <= 6


def test_no_configuration_is_asked_for_twice() -> None:
    for culprits in subsets(7, range(3, 4)):
        search = Search(ddmin, certain(7, *culprits))
        assert len(search.notebook.probes) == search.probes


def test_a_toggle_that_lacks_what_it_needs_is_never_asked_for() -> None:
    needs = {"b": frozenset("a"), "f": frozenset("ae")}
    for culprits in [("a",), ("a", "b"), ("a", "e", "f"), ("c", "d"), ("a", "b", "g")]:
        search = Search(ddmin, certain(7, *culprits), needs=needs)
        assert search.found.culprits == culprits
        for probe in search.notebook.probes:
            assert search.space.valid(search.space.mask(sorted(probe.config.bad)))


def test_a_refused_configuration_is_skipped_like_a_commit() -> None:
    """Nothing with a and b runs, so neither the half with both culprits nor most of the rest."""
    search = Search(ddmin, certain(8, "a", "d", refuses=(frozenset("ab"),)))
    assert search.found.culprits == ("a", "d")
    assert len(search.notebook.refused) >= 3
    assert search.found.reason.startswith(f"{len(search.notebook.refused)} configurations")


def test_what_cannot_be_tested_is_counted_in_the_reason() -> None:
    search = Search(ddmin, certain(4, "a", "b", refuses=(frozenset("ab"),)))
    assert search.found.culprits == tuple("abcd")  # nothing smaller could be shown to be bad
    assert search.found.reason == (
        f"{len(search.notebook.refused)} configurations could not be tested and were skipped"
    )
    assert len(search.notebook.refused) == 3  # ab, abc, abd


def test_a_budget_that_ends_leaves_the_smallest_bad_set_as_a_candidate() -> None:
    search = Search(ddmin, certain(8, "a", "b"), Parameters(told=1.0, budget=1))
    assert search.found.culprits is None
    assert search.found.candidates == (("a", "b", "c", "d"),)
    assert search.found.reason == "1 of 1 sessions are spent"


def test_each_probe_is_told_with_the_smallest_bad_set_so_far() -> None:
    search = Search(ddmin, certain(8, "c"))
    assert [belief.spent for belief in search.beliefs] == list(range(1, search.probes + 1))
    smallest = [belief.sets[0][0] for belief in search.beliefs]
    assert smallest == [tuple("abcdefgh"), tuple("abcd"), tuple("abcd"), ("c", "d")]


def test_a_rate_no_higher_than_the_background_is_not_searched() -> None:
    blind = Parameters(told=0.01, exact=False)
    for method in (ddmin, ddmin_wald):
        search = Search(method, SimulatedWorld(TOGGLES, frozenset("a")), blind)
        assert search.found.culprits is None
        assert search.probes == 0
        assert "background" in search.found.reason


def test_the_rate_of_phase_0_sets_the_size_of_a_probe() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("a"), p1=0.5, batch_sessions=20, seed=3)
    notebook, space = Notebook(world, 2000), Space(TOGGLES)
    notebook.ask(Phase.REPRODUCE, space.suspect, 1)
    seen = notebook.tally(space.suspect, Unit.SESSION).rate
    world_of_one = SimulatedWorld(TOGGLES, frozenset("a"), p1=0.5, seed=3)
    notebook.world = world_of_one
    ddmin(notebook, space, Parameters(), Unit.SESSION, lambda belief: None)
    units, _ = size(seen, 0.0, 0.01)
    assert {probe.sessions for probe in notebook.probes[1:]} == {units}


def test_at_the_rate_it_was_told_it_hardly_errs() -> None:
    """60 worlds; a probe errs in 1 %, a search of about five probes in 1 % or so."""
    assert wrong(ddmin, 0.47, 1, 60, Parameters(told=0.47)) <= 2
    assert wrong(ddmin_wald, 0.47, 2, 60, Parameters(told=0.47)) <= 3


def test_with_a_background_a_probe_takes_more_than_one_corrupt_unit() -> None:
    units, most = size(0.17, 0.01, 0.01)
    assert most >= 1
    world = SimulatedWorld(TOGGLES, frozenset("cf"), p1=0.17, p0=0.01, seed=1)
    params = Parameters(told=0.17, exact=False, budget=10_000)
    search = Search(ddmin, world, params)
    assert search.found.culprits == ("c", "f")
    assert {probe.sessions for probe in search.notebook.probes} == {units}


def test_parts_are_as_even_as_they_can_be() -> None:
    assert split(range(7), 3) == [[0, 1], [2, 3], [4, 5, 6]]
    assert split(range(4), 4) == [[0], [1], [2], [3]]


def test_equal_searches_ask_equal_probes() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("bh"), p1=0.3, seed=5)
    params = Parameters(told=0.3)
    first, second = (Search(ddmin_wald, world, params).notebook.probes for _ in range(2))
    assert first == second
    assert first[0].config == Config(frozenset("abcde"))
    assert sum((Tally(p.sessions) for p in first), Tally()).units == len(first)


def test_more_than_three_culprits_are_no_obstacle() -> None:
    assert Search(ddmin, certain(10, *"acegi"), CERTAIN).found.culprits == tuple("acegi")

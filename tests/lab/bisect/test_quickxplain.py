"""QuickXplain finds a minimal set in few probes, each of which it can trust."""

from __future__ import annotations

from math import ceil, log2

from lab.bisect.methods import METHODS
from lab.bisect.methods.quickxplain import quickxplain
from lab.bisect.parameters import Parameters
from lab.bisect.probe_tests import size
from lab.bisect.worlds import SimulatedWorld
from tests.lab.bisect.searches import TOGGLES, Search, certain, subsets, wrong


def test_it_is_a_method_that_can_be_asked_for() -> None:
    assert METHODS.all()["quickxplain"] is quickxplain


def test_without_chance_it_finds_every_set_of_seven_toggles() -> None:
    for culprits in subsets(7, range(1, 8)):
        assert Search(quickxplain, certain(7, *culprits)).found.culprits == culprits


def test_it_never_asks_for_more_probes_than_its_author_says() -> None:
    """Junker, theorem 1: at most 2 k log2(n / k) + 2 k checks for k of n."""
    for culprits in subsets(8, range(1, 9)):
        k = len(culprits)
        assert Search(quickxplain, certain(8, *culprits)).probes <= 2 * k * log2(8 / k) + 2 * k


def test_a_single_culprit_takes_two_probes_a_halving_at_most() -> None:
    probes = [Search(quickxplain, certain(10, key)).probes for key in TOGGLES]
    assert max(probes) <= 2 * ceil(log2(10))
    assert min(probes) <= ceil(log2(10))


def test_a_toggle_that_lacks_what_it_needs_is_never_asked_for() -> None:
    needs = {"b": frozenset("a"), "f": frozenset("ae")}
    for culprits in [("a",), ("a", "b"), ("a", "e", "f"), ("c", "d"), ("a", "b", "g")]:
        search = Search(quickxplain, certain(7, *culprits), needs=needs)
        assert search.found.culprits == culprits
        for probe in search.notebook.probes:
            assert search.space.valid(search.space.mask(sorted(probe.config.bad)))


def test_needs_that_come_later_in_the_file_are_met_too() -> None:
    needs = {"a": frozenset("g")}
    assert Search(quickxplain, certain(7, *"ag"), needs=needs).found.culprits == ("a", "g")


def test_what_a_skipped_probe_left_in_is_taken_out_in_the_end() -> None:
    """A refused half is taken for a good one, so a toggle of the other half seems to be needed."""
    search = Search(quickxplain, certain(8, "a", refuses=(frozenset("bd"),)))
    assert search.found.culprits == ("a",)
    assert len(search.notebook.refused) >= 1
    assert "skipped" in search.found.reason


def test_a_budget_that_ends_leaves_the_smallest_bad_set_as_a_candidate() -> None:
    search = Search(quickxplain, certain(8, "a", "b"), Parameters(told=1.0, budget=2))
    assert search.found.culprits is None
    assert search.found.candidates == (("a", "b"),)


def test_a_bad_probe_ends_with_its_first_corrupt_session_and_a_good_one_at_full_size() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("dg"), p1=0.47, seed=2)
    search = Search(quickxplain, world, Parameters(told=0.47))
    units, most = size(0.47, 0.0, 0.001)
    assert (units, most) == (11, 0)
    for config in dict.fromkeys(probe.config for probe in search.notebook.probes):
        trials = search.notebook.trials(config)
        corrupt = [trial.corrupt for trial in trials]
        assert sum(corrupt[:-1]) == 0
        assert corrupt[-1] == 1 if {"d", "g"} <= config.bad else len(trials) == units


def test_at_the_rate_it_was_told_it_hardly_errs() -> None:
    """60 worlds at one error in a thousand probes, of which a search makes about ten."""
    assert wrong(quickxplain, 0.47, 2, 60, Parameters(told=0.47)) <= 1


def test_it_is_held_to_less_than_a_thousandth_where_the_search_is() -> None:
    """A search held to 1e-5 takes the units for that; a clean first half shows them."""
    strict = Parameters(told=0.47, alpha=1e-5)
    search = Search(quickxplain, SimulatedWorld(TOGGLES, frozenset("j"), p1=0.47), strict)
    first = search.notebook.probes[0].config
    assert len(search.notebook.trials(first)) == size(0.47, 0.0, 1e-5)[0] == 19


def test_equal_searches_ask_equal_probes() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("bh"), p1=0.3, seed=5)
    params = Parameters(told=0.3)
    first, second = (Search(quickxplain, world, params).notebook.probes for _ in range(2))
    assert first == second
    assert len(first) > 20

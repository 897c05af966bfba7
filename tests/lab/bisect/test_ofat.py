"""One factor at a time: what sixty sessions an arm say, and where they mislead."""

from __future__ import annotations

from lab.bisect.methods import METHODS
from lab.bisect.methods.ofat import ARM_SESSIONS, differs, ofat, ofat_clean
from lab.bisect.notebook import Notebook, Phase
from lab.bisect.parameters import Parameters
from lab.bisect.space import Space
from lab.bisect.trials import Tally, Unit
from lab.bisect.worlds import SimulatedWorld
from tests.lab.bisect.searches import TOGGLES, Search, certain, subsets, wrong


def test_it_is_a_method_that_can_be_asked_for() -> None:
    assert METHODS.all()["ofat"] is ofat


def test_without_chance_it_finds_every_set_of_six_toggles() -> None:
    for culprits in subsets(6, range(1, 7)):
        for method in (ofat, ofat_clean):
            assert Search(method, certain(6, *culprits)).found.culprits == culprits


def test_it_costs_sixty_sessions_a_toggle_and_sixty_with_all_of_them_bad() -> None:
    assert Search(ofat, certain(10, "a")).notebook.spent == 11 * ARM_SESSIONS
    assert Search(ofat_clean, certain(10, "a")).notebook.spent == 10 * ARM_SESSIONS


def test_sessions_of_phase_0_count_and_are_not_paid_for_twice() -> None:
    space = Space(TOGGLES)
    notebook = Notebook(certain(10, "c"), 2000)
    notebook.ask(Phase.REPRODUCE, space.suspect, 25)
    found = ofat(notebook, space, Parameters(), Unit.SESSION, lambda belief: None)
    assert found.culprits == ("c",)
    assert notebook.spent == 11 * ARM_SESSIONS
    assert notebook.tally(space.suspect, Unit.SESSION) == Tally(60, 60)


def test_a_trial_of_many_sessions_is_not_split() -> None:
    search = Search(ofat_clean, certain(3, "a", batch_sessions=25))
    assert {probe.sessions for probe in search.notebook.probes} == {75}


def test_an_arm_differs_only_if_it_is_rarer_and_fisher_s_test_says_so() -> None:
    assert differs(Tally(60, 0), Tally(60, 6))
    assert not differs(Tally(60, 0), Tally(60, 5))  # p = .057: ten in sixty would have shown
    assert not differs(Tally(60, 20), Tally(60, 6))
    assert not differs(Tally(), Tally(60, 60))


def test_a_rare_corruption_makes_innocent_toggles_look_like_culprits() -> None:
    """At a rate of 6 % an arm of sixty is clean by chance in 2.4 %: of nine arms, in a fifth."""
    missed = wrong(ofat_clean, 0.06, 1, 100, Parameters())
    assert 10 <= missed <= 30


def test_at_a_high_rate_clean_arms_do_not_mislead() -> None:
    assert wrong(ofat_clean, 0.17, 2, 40, Parameters()) == 0


def test_no_arm_that_differs_is_no_answer_and_not_the_answer_none() -> None:
    """At 2 % hardly an arm can differ: it says nothing rather than that no toggle is to blame."""
    search = Search(ofat, SimulatedWorld(TOGGLES, frozenset("a"), p1=0.02, seed=1))
    assert search.found.culprits is None
    assert search.found.reason == "no toggle makes a difference by itself"


def test_two_causes_each_enough_hide_each_other() -> None:
    world = SimulatedWorld(TOGGLES, causes=(frozenset("a"), frozenset("b")), p1=1.0)
    assert Search(ofat, world).found.culprits is None


def test_a_toggle_that_others_need_takes_them_along() -> None:
    needs = {"b": frozenset("a")}
    search = Search(ofat, certain(4, "a", "b"), needs=needs)
    assert search.found.culprits == ("a", "b")
    arms = [frozenset(probe.config.bad) for probe in search.notebook.probes]
    assert arms == [
        frozenset("abcd"),
        frozenset("cd"),
        frozenset("acd"),
        *map(frozenset, ("abd", "abc")),
    ]


def test_a_refused_arm_is_named_and_says_nothing() -> None:
    search = Search(ofat_clean, certain(4, "b", refuses=(frozenset("bcd"),)))
    assert search.found.culprits == ("b",)
    assert search.found.reason == "not run, for the target refuses it: a good"


def test_without_budget_for_every_arm_there_is_no_answer() -> None:
    search = Search(ofat, certain(10, "a"), Parameters(budget=300))
    assert search.found.culprits is None
    assert search.found.reason == "300 of 300 sessions are spent"


def test_each_arm_is_told_with_what_is_blamed_so_far() -> None:
    search = Search(ofat_clean, certain(4, "b", "d"))
    told = [belief.sets[0][0] for belief in search.beliefs]
    assert told == [(), ("b",), ("b",), ("b", "d")]

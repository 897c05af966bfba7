"""Bracketing a numeric knob on simulated worlds."""

from __future__ import annotations

import pytest

from lab.bisect.conclusion import Belief, Bracket
from lab.bisect.notebook import Notebook, Phase
from lab.bisect.parameters import Parameters
from lab.bisect.space import Config, Space
from lab.bisect.threshold import threshold
from lab.bisect.trials import Outcome, Trial, Unit
from lab.bisect.units import held_to
from lab.bisect.worlds import SimulatedWorld

LADDER = (1, 2, 4, 8, 16, 32)
CONFIG = Config(frozenset("ab"))


def bracket(
    first_bad: float, p1: float = 0.47, seed: int = 0, budget: int = 2000
) -> tuple[Bracket, Notebook]:
    world = SimulatedWorld(
        ("a", "b"), frozenset("ab"), p1=p1, thresholds={"a": first_bad}, seed=seed
    )
    notebook = Notebook(world, budget)
    found = threshold(notebook, Parameters(), Unit.SESSION, CONFIG, "a", LADDER, p1)
    return found, notebook


@pytest.mark.parametrize(("first_bad", "ends"), [(2, (1, 2)), (3, (2, 4)), (16, (8, 16))])
def test_the_bracket_holds_the_first_bad_level(first_bad: int, ends: tuple[int, int]) -> None:
    for seed in range(4):
        found, notebook = bracket(first_bad, seed=seed)
        assert (found.clean_below, found.bad_above) == ends
        assert found.posterior >= 0.99
        assert found.monotone
        assert notebook.spent <= 80


def test_where_only_the_bad_value_itself_is_corrupt_the_bracket_is_the_last_step() -> None:
    found, _ = bracket(1000)
    assert (found.clean_below, found.bad_above) == (16, 32)


def test_a_lower_rate_costs_more_and_is_bracketed_as_well() -> None:
    found, notebook = bracket(4, p1=0.17, seed=3)
    assert (found.clean_below, found.bad_above) == (2, 4)
    assert notebook.spent <= 250


def test_levels_share_seeds_and_the_top_is_tried_first() -> None:
    _, notebook = bracket(4)
    assert {probe.phase for probe in notebook.probes} == {Phase.THRESHOLD}
    assert notebook.probes[0].config == CONFIG
    first = {probe.config: probe.outcome[0].index for probe in reversed(notebook.probes)}
    assert len(first) > 2
    assert len(set(first.values())) == 1


def test_the_top_and_a_level_between_are_seen_corrupt_before_it_ends() -> None:
    found, _ = bracket(2)
    steps = dict(found.steps)
    assert steps[32].corrupt > 0
    assert steps[4].corrupt + steps[8].corrupt > 0


def test_trials_that_were_paid_for_at_the_ends_count() -> None:
    world = SimulatedWorld(("a", "b"), frozenset("ab"), p1=0.47, thresholds={"a": 2})
    notebook = Notebook(world, 2000)
    notebook.ask(Phase.CONFIRM, CONFIG.without("a"), 100, paired=True)
    found = threshold(notebook, Parameters(), Unit.SESSION, CONFIG, "a", LADDER, 0.47)
    assert (found.clean_below, found.bad_above) == (1, 2)
    assert notebook.spent - 100 <= 40


def test_what_is_known_when_the_budget_ends_is_a_wider_bracket() -> None:
    found, notebook = bracket(4, p1=0.47, budget=10)
    assert notebook.spent <= 10
    assert found.bad_above is not None
    assert found.clean_below is None


def test_the_beliefs_are_told_after_every_probe() -> None:
    world = SimulatedWorld(("a", "b"), frozenset("ab"), p1=0.47, thresholds={"a": 4})
    notebook, told = Notebook(world, 2000), list[Belief]()
    threshold(notebook, Parameters(), Unit.SESSION, CONFIG, "a", LADDER, 0.47, told.append)
    assert len(told) == len(notebook.probes)
    assert told[-1].sets[0][0] == ("a from 4",)
    assert sum(p for _, p in told[-1].sets) == pytest.approx(1.0)


class Hump:
    """Corrupt at the middle levels alone, and the levels below 4 are refused or show nothing."""

    batch_sessions, boot_cost = 1, 0.0

    def probe(self, config: Config, indices: range) -> Outcome:
        corrupt = int(dict(config.levels).get("a") in (4, 8))
        silent = "wedged" if dict(config.levels).get("a") == 2 else ""
        return tuple(Trial(i, 1, corrupt if i % 2 else 0, unknown=silent) for i in indices)

    def unexercised(self, config: Config, trials: object) -> str:
        return ""


def test_corruption_that_ends_above_is_not_monotone_and_a_silent_level_is_skipped() -> None:
    notebook = Notebook(Hump(), 2000)
    found = threshold(notebook, Parameters(), Unit.SESSION, CONFIG, "a", LADDER, 0.5)
    assert not found.monotone
    assert found.bad_above == 4
    assert dict(found.steps)[32].corrupt == 0
    assert 2 not in dict(found.steps)


def test_what_needs_the_toggle_is_bad_only_with_it() -> None:
    space = Space(tuple("abcd"), {"c": frozenset("a"), "d": frozenset("c")})
    world = SimulatedWorld(space.toggles, frozenset("ab"), p1=0.47, thresholds={"a": 8})
    notebook = Notebook(world, 2000)
    config = space.suspect
    found = threshold(notebook, Parameters(), Unit.SESSION, config, "a", LADDER, 0.47, space=space)
    assert (found.clean_below, found.bad_above) == (4, 8)
    asked = {probe.config for probe in notebook.probes}
    assert {one.bad for one in asked if one != config} == {frozenset("b")}


def test_a_level_that_is_neither_clean_nor_corrupt_does_not_take_the_budget() -> None:
    """A background a little above what is believed of it tells, and tells, and decides nothing."""
    world = SimulatedWorld(("a", "b"), frozenset("ab"), p1=0.02, p0=0.006)
    notebook = Notebook(world, 50_000)
    threshold(notebook, Parameters(exact=False), Unit.SESSION, CONFIG, "a", LADDER, 0.02)
    assert notebook.spent < 20_000


def test_a_background_of_boots_is_no_threshold() -> None:
    """It may hide how far down it goes, and is never taken for it."""
    held = held_to(Parameters(exact=False), Unit.BOOT, 24)
    for seed in (1, 4, 7, 8):
        world = SimulatedWorld(
            ("a", "b"),
            frozenset("ab"),
            p1=0.17,
            p0=0.002,
            thresholds={"a": 16},
            seed=seed,
            batch_sessions=24,
        )
        notebook = Notebook(world, 20_000)
        found = threshold(notebook, held, Unit.BOOT, CONFIG, "a", LADDER, 0.98)
        assert found.bad_above == 16
        assert found.clean_below <= 8

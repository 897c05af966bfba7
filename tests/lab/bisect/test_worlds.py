"""The simulated world."""

from __future__ import annotations

import pytest

from lab.bisect.notebook import Refused
from lab.bisect.space import Config
from lab.bisect.trials import sessions
from lab.bisect.worlds import SimulatedWorld

TOGGLES = ("a", "b", "c")
ALL = Config(frozenset(TOGGLES))


def rate(world: SimulatedWorld, config: Config, trials: int = 2000) -> float:
    outcome = world.probe(config, range(trials))
    return sum(trial.corrupt for trial in outcome) / sessions(outcome)


def test_sessions_are_corrupt_at_p1_where_all_culprits_are_bad_and_at_p0_elsewhere() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("ab"), p1=0.3, p0=0.02, seed=1)
    assert rate(world, ALL) == pytest.approx(0.3, abs=0.03)
    assert rate(world, ALL.without("a")) == pytest.approx(0.02, abs=0.01)


def test_a_trial_depends_on_seed_configuration_and_index_alone() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("a"), p1=0.5, batch_sessions=10)
    whole = world.probe(ALL, range(20))
    world.probe(ALL.without("b"), range(5))
    assert whole[7:9] == world.probe(ALL, range(7, 9))
    assert whole != world.probe(ALL.without("b"), range(20))
    other = SimulatedWorld(TOGGLES, frozenset("a"), p1=0.5, batch_sessions=10, seed=1)
    assert whole != other.probe(ALL, range(20))


def test_sessions_of_one_boot_correlate() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("a"), p1=0.2, rho=0.2, batch_sessions=10)
    counts = [trial.corrupt for trial in world.probe(ALL, range(4000))]
    mean = sum(counts) / len(counts)
    variance = sum((count - mean) ** 2 for count in counts) / len(counts)
    assert mean == pytest.approx(2.0, abs=0.1)
    assert variance == pytest.approx(10 * 0.2 * 0.8 * (1 + 9 * 0.2), rel=0.1)


def test_an_innocent_toggle_may_lower_the_rate() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("a"), p1=0.4, attenuate={"b": 0.5, "c": 0.25})
    assert world.rate(ALL) == pytest.approx(0.05)
    assert world.rate(ALL.without("c")) == pytest.approx(0.2)


def test_each_of_several_causes_is_enough() -> None:
    causes = (frozenset("a"), frozenset("bc"))
    world = SimulatedWorld(TOGGLES, p1=0.2, causes=causes)
    assert world.rate(ALL) == pytest.approx(0.36)
    assert world.rate(ALL.without("a")) == pytest.approx(0.2)
    assert world.rate(ALL.without("a", "b")) == 0


def test_a_toggle_with_a_threshold_is_bad_from_that_level_on() -> None:
    world = SimulatedWorld(
        TOGGLES, frozenset("ab"), thresholds={"a": 4, "b": 8}, falling=frozenset("b")
    )
    bad = [world.bad(Config(ALL.bad, (("a", a), ("b", b)))) for a, b in [(3, 9), (4, 8), (4, 9)]]
    assert bad == [frozenset("c"), frozenset("abc"), frozenset("ac")]
    assert world.rate(ALL) == pytest.approx(0.17)


def test_a_configuration_may_be_refused() -> None:
    world = SimulatedWorld(TOGGLES, frozenset("a"), refuses=(frozenset("bc"),))
    world.probe(ALL.without("b"), range(1))
    with pytest.raises(Refused, match="b, c"):
        world.probe(ALL, range(1))

"""Discovery by information, on worlds whose culprits are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean

import numpy as np
import pytest

from lab.bisect.conclusion import Belief, Discovery
from lab.bisect.methods.bayes import _Search, bayes
from lab.bisect.notebook import Notebook, Phase
from lab.bisect.parameters import Parameters
from lab.bisect.space import Config, Space
from lab.bisect.trials import Outcome, Trial, Unit
from lab.bisect.worlds import SimulatedWorld

TOGGLES = tuple("abcdefghij")
SPACE = Space(TOGGLES)
PLAIN = Parameters(attenuation=False)


def reproduced(
    world: SimulatedWorld, params: Parameters, space: Space = SPACE, unit: Unit = Unit.SESSION
) -> Notebook:
    """A notebook after the first phase: five corrupt units, and a baseline of as many units."""
    notebook = Notebook(world, params.budget)
    while notebook.tally(space.suspect, unit).corrupt < params.enough:
        notebook.ask(Phase.REPRODUCE, space.suspect, 1)
    notebook.ask(Phase.CONTROL, space.baseline, len(notebook.trials(space.suspect)))
    return notebook


def discover(
    world: SimulatedWorld,
    params: Parameters = PLAIN,
    space: Space = SPACE,
    unit: Unit = Unit.SESSION,
    beliefs: list[Belief] | None = None,
) -> tuple[Discovery, Notebook]:
    notebook = reproduced(world, params, space, unit)
    told: list[Belief] = [] if beliefs is None else beliefs
    return bayes(notebook, space, params, unit, told.append), notebook


def world(culprits: str, **options: object) -> SimulatedWorld:
    return SimulatedWorld(TOGGLES, frozenset(culprits), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("culprits", "p1", "sessions"),
    [("d", 0.47, 69), ("bg", 0.47, 97), ("d", 0.17, 130), ("bg", 0.17, 225), ("aej", 0.17, 300)],
)
def test_the_culprits_are_found_within_the_sessions_that_the_design_promises(
    culprits: str, p1: float, sessions: int
) -> None:
    spent = []
    for seed in range(8):
        found, notebook = discover(world(culprits, p1=p1, seed=seed), replace(PLAIN, seed=seed))
        assert found.posterior >= 0.99
        assert tuple(culprits) in found.candidates
        assert found.culprits == tuple(culprits)  # one world in a hundred may differ: none of these
        spent.append(notebook.spent)
    assert mean(spent) <= sessions * 1.15  # of eight worlds only


def test_the_same_world_is_asked_the_same_probes() -> None:
    first, second = (discover(world("bg", seed=3))[1].probes for _ in range(2))
    assert first == second
    other = discover(world("bg", seed=3), replace(PLAIN, seed=1))[1].probes
    assert first != other


def test_what_is_believed_is_told_after_every_probe() -> None:
    beliefs: list[Belief] = []
    found, notebook = discover(world("bg", seed=1), beliefs=beliefs)
    asked = [probe for probe in notebook.probes if probe.phase is Phase.DISCOVER]
    assert len(beliefs) == len(asked)
    assert beliefs[-1].spent == notebook.spent
    assert beliefs[-1].sets[0] == (("b", "g"), pytest.approx(found.posterior))
    assert all(len(belief.sets) == 8 for belief in beliefs)


def test_toggles_are_bad_only_with_what_they_need() -> None:
    space = Space(TOGGLES, {"c": frozenset("b"), "d": frozenset("bc")})
    found, notebook = discover(world("bcd", p1=0.47), space=space)
    assert found.culprits == ("b", "c", "d")
    assert all(space.valid(space.mask(probe.config.bad)) for probe in notebook.probes)


def test_refused_configurations_are_skipped() -> None:
    target = world("bg", p1=0.47, refuses=(frozenset("ac"), frozenset("de")))
    params = replace(PLAIN, budget=500)
    notebook = Notebook(target, params.budget)
    start = Config(frozenset("abdfghij"))
    notebook.ask(Phase.REPRODUCE, start, 12)
    found = bayes(notebook, SPACE, params, Unit.SESSION, lambda belief: None)
    assert found.culprits == ("b", "g")
    assert notebook.refused
    assert not {probe.config for probe in notebook.probes} & set(notebook.refused)


def test_several_causes_are_found_one_at_a_time() -> None:
    for seed in range(4):
        causes = (frozenset("a"), frozenset("fh"))
        target = SimulatedWorld(TOGGLES, p1=0.3, causes=causes, seed=seed)
        found, _ = discover(target, replace(PLAIN, seed=seed))
        assert found.culprits is not None
        assert frozenset(found.culprits) in causes
        assert set(found.culprits) <= set(found.context)
        if found.several:
            assert len(found.context) < len(TOGGLES)


def test_where_no_toggle_matters_none_is_to_blame() -> None:
    found, _ = discover(world("", p0=0.2))
    assert found.culprits == ()
    assert not found.several


def test_a_background_is_not_taken_for_a_culprit() -> None:
    params = replace(PLAIN, exact=False)
    for seed in range(3):
        target = world("cg", p1=0.3, p0=0.005, seed=seed)
        assert discover(target, params)[0].culprits == ("c", "g")


def test_innocent_toggles_may_halve_the_rate() -> None:
    params = Parameters(attenuation=True)
    for seed in range(3):
        target = world("cg", p1=0.4, attenuate={"a": 0.5, "e": 0.5}, seed=seed)
        assert discover(target, params)[0].culprits == ("c", "g")


def test_out_of_budget_the_sets_that_are_left_are_told() -> None:
    params = replace(PLAIN, budget=60)
    found, notebook = discover(world("bg", p1=0.3), params)
    assert found.culprits is None
    assert "60 sessions are spent" in found.reason
    assert ("b", "g") in found.candidates
    assert 1 < len(found.candidates) < 176
    assert notebook.spent <= 60


def test_a_boot_is_a_unit_where_sessions_of_a_boot_correlate() -> None:
    for seed in range(3):
        target = world("cg", p1=0.17, rho=0.2, batch_sessions=10, seed=seed)
        found, notebook = discover(target, PLAIN, unit=Unit.BOOT)
        assert found.culprits == ("c", "g")
        asked = [len(p.outcome) for p in notebook.probes if p.phase is Phase.DISCOVER]
        assert max(asked) <= 3


def test_a_dear_boot_keeps_the_configuration_longer() -> None:
    def switches(boot_cost: float) -> int:
        _, notebook = discover(world("bg", p1=0.17, boot_cost=boot_cost))
        configs = [probe.config for probe in notebook.probes]
        return sum(a != b for a, b in pairwise(configs))

    assert switches(50.0) < switches(0.0)


class Deaf(SimulatedWorld):
    """Shows nothing without ``j``: its trials wedge."""

    def probe(self, config: Config, indices: range) -> Outcome:
        outcome = super().probe(config, indices)
        if "j" in config.bad or not config.bad:
            return outcome
        return tuple(Trial(t.index, t.sessions, 0, "wedged", "wedged") for t in outcome)


def test_a_configuration_that_shows_nothing_is_asked_once() -> None:
    found, notebook = discover(Deaf(TOGGLES, frozenset("b"), p1=0.47))
    deaf = [p.config for p in notebook.probes if p.config.bad and "j" not in p.config.bad]
    assert deaf
    assert len(deaf) == len(set(deaf))
    assert found.culprits is None  # whether j takes part cannot be told
    assert set(found.candidates) == {("b",), ("b", "j")}
    assert found.reason == "no configuration that can be run tells the sets apart"


@pytest.mark.parametrize("attenuation", [False, True])
@pytest.mark.parametrize(("keys", "p1"), [("abcdefghij", 0.3), ("abcdef", 0.47)])
def test_more_culprits_than_were_asked_for_are_found_all_the_same(
    keys: str, p1: float, attenuation: bool
) -> None:
    for seed in range(3):
        target = SimulatedWorld(tuple(keys), frozenset("abcd"), p1=p1, seed=seed)
        params = Parameters(attenuation=attenuation, budget=600, seed=seed)
        found, _ = discover(target, params, Space(tuple(keys)))
        assert found.culprits == ("a", "b", "c", "d")
        assert not found.several


def test_a_chain_of_needs_is_one_culprit() -> None:
    chain = {"d": frozenset("c"), "c": frozenset("b"), "b": frozenset("a")}
    found, notebook = discover(world("abcd", p1=0.3), space=Space(TOGGLES, chain))
    assert found.culprits == ("a", "b", "c", "d")
    assert notebook.spent < 150


@dataclass(frozen=True)
class Idle(SimulatedWorld):
    """After its first trials no session is owed a reply, but where all or no toggles are bad."""

    def probe(self, config: Config, indices: range) -> Outcome:
        if not 0 < len(config.bad) < len(self.toggles):
            return super().probe(config, indices)
        return tuple(Trial(i, int(i < 40), 0) for i in indices)


@pytest.mark.parametrize("toggles", ["abcde", "abcdefghij"])
def test_trials_without_a_session_cost_nothing_and_are_not_asked_for_ever(toggles: str) -> None:
    space = Space(tuple(toggles))
    found, notebook = discover(Idle(space.toggles, frozenset("b"), p1=0.47), space=space)
    assert found.culprits is None
    assert len(notebook.probes) < 120
    assert found.reason in (
        "in the last 32 probes no session was owed a reply",
        "no configuration that can be run tells the sets apart",
    )


def searching(notebook: Notebook, params: Parameters, wider: bool = False) -> _Search:
    return _Search(notebook, SPACE, params, Unit.SESSION, lambda belief: None, 0.3, wider)


def test_where_nothing_is_excluded_for_long_the_search_ends_and_says_so() -> None:
    notebook = reproduced(world("bg", p1=0.3), PLAIN)
    for wider, patience in ((False, 8), (True, 20)):
        search = searching(notebook, PLAIN, wider)
        search.rate = search.counts[(1 << 10) - 1].rate
        enough = int(patience * np.log(100) / search.rate)
        search.since = enough - 1
        assert not search.stalled
        search.since = enough + 1
        said = f"the last {enough + 1} sessions excluded none of the 177 sets left"
        assert search.run() == (None, said)


@dataclass(frozen=True)
class Shy(SimulatedWorld):
    """The clean trials of a configuration never go where its settings point."""

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        return "" if len(config.bad) != 9 else "never exercised"


def test_a_configuration_that_proved_nothing_is_taken_up_again_once_it_is_corrupt() -> None:
    target = Shy(TOGGLES, frozenset("b"), p1=0.3, seed=2)
    nine = Config(frozenset(TOGGLES) - {"j"})
    notebook = reproduced(target, PLAIN)
    notebook.ask(Phase.REPRODUCE, nine, 1)
    assert not notebook.tally(nine, Unit.SESSION).corrupt
    while not notebook.tally(nine, Unit.SESSION).corrupt:
        notebook.ask(Phase.REPRODUCE, nine, 5)
    search = searching(notebook, PLAIN)
    assert SPACE.mask(nine.bad) in search.counts
    assert SPACE.mask(nine.bad) not in search.mute

"""Confirmation on fresh seeds, on simulated worlds whose truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lab.bisect.arms import Bar
from lab.bisect.conclusion import Discovery, Role, Verdict
from lab.bisect.confirm import Confirmation, confirm
from lab.bisect.notebook import Notebook, Phase, Refused
from lab.bisect.parameters import Parameters
from lab.bisect.space import Config, Space
from lab.bisect.trials import Outcome, Tally, Trial, Unit
from lab.bisect.worlds import SimulatedWorld
from lab.stats import upper_bound

TOGGLES = tuple("abcdef")
SPACE = Space(TOGGLES)
WORLDS = 20
ONE, PAIR = frozenset("a"), frozenset("ab")


def confirmed(
    world: SimulatedWorld,
    culprits: str,
    params: Parameters = Parameters(budget=9000),  # noqa: B008
    unit: Unit = Unit.SESSION,
    space: Space = SPACE,
) -> tuple[Confirmation, Notebook]:
    """After a short phase 0, as a search would."""
    notebook = Notebook(world, params.budget)
    while notebook.tally(space.suspect, unit).corrupt < params.enough:
        notebook.ask(Phase.REPRODUCE, space.suspect, 5)
    bad = notebook.tally(space.suspect, unit)
    found = Discovery(tuple(culprits), space.toggles, 0.99)
    return confirm(notebook, space, params, unit, found, bad), notebook


def cost(notebook: Notebook) -> int:
    return sum(probe.sessions for probe in notebook.probes if probe.phase is Phase.CONFIRM)


def over_worlds(suspects: str, **world: Any) -> tuple[list[Confirmation], float]:
    """Confirmations over seeded worlds, and the mean of their sessions."""
    runs = [confirmed(SimulatedWorld(TOGGLES, seed=s, **world), suspects) for s in range(WORLDS)]
    return [found for found, _ in runs], sum(cost(notebook) for _, notebook in runs) / WORLDS


@pytest.mark.parametrize(("p1", "most"), [(0.47, 260), (0.17, 760)])
def test_a_true_pair_is_necessary_and_sufficient(p1: float, most: int) -> None:
    found, mean = over_worlds("ab", culprits=PAIR, p1=p1)
    assert {one.verdict for one in found} == {Verdict.CONFIRMED}
    assert {(one.roles["a"], one.roles["b"]) for one in found} == {(Role.NECESSARY, Role.NECESSARY)}
    assert all(one.sufficient for one in found)
    assert {role for one in found for key, role in one.roles.items() if key not in PAIR} == {
        Role.INNOCENT
    }
    assert mean <= most


def test_boots_of_a_high_rate_take_about_46_boots_an_arm() -> None:
    world = SimulatedWorld(TOGGLES, PAIR, p1=0.25, batch_sessions=12)
    found, notebook = confirmed(world, "ab", unit=Unit.BOOT)
    assert found.verdict is Verdict.CONFIRMED
    assert cost(notebook) / 12 <= 115
    assert all(44 <= arm.tally.units <= 52 for arm in found.arms if "without" in arm.name)


def test_a_wrong_suspect_is_refuted_in_a_fraction_of_that() -> None:
    found, mean = over_worlds("ab", culprits=ONE, p1=0.17)
    assert all(one.refuted.startswith("without b ") for one in found)
    assert {one.verdict for one in found} == {Verdict.UNDETERMINED}
    assert {one.roles["b"] for one in found} == {Role.NOT_SEPARABLE}
    assert mean <= 260


def test_an_innocent_toggle_that_quarters_the_rate_is_aggravating_and_never_necessary() -> None:
    found, _ = over_worlds("ab", culprits=ONE, p1=0.0425, attenuate={"b": 4.0})
    roles = Counter(one.roles["b"] for one in found)
    assert roles[Role.AGGRAVATING] >= 0.7 * WORLDS
    assert roles[Role.NECESSARY] == 0
    for one in found:
        if one.verdict is Verdict.CONFIRMED:
            assert (one.culprits, one.roles["a"]) == (("a",), Role.NECESSARY)


def test_a_set_that_misses_a_culprit_is_necessary_in_its_context_and_not_sufficient() -> None:
    found, _ = confirmed(SimulatedWorld(TOGGLES, PAIR, p1=0.47), "a")
    assert found.verdict is Verdict.CONFIRMED
    assert found.sufficient is False
    assert found.roles["a"] is Role.NECESSARY
    assert Role.INNOCENT not in found.roles.values()


@pytest.mark.parametrize("p1", [0.3, 0.47])
def test_what_aggravates_is_told_from_another_cause_by_the_rest_alone(p1: float) -> None:
    """Without b the causes that share a are left: rarer, not gone. Yet a alone is never corrupt."""
    causes = (PAIR, frozenset("ac"))
    for seed in range(20):
        found, _ = confirmed(SimulatedWorld(TOGGLES, causes=causes, p1=p1, seed=seed), "ab")
        assert found.verdict is Verdict.UNDETERMINED
        assert found.refuted
        assert not found.sufficient or found.culprits == ("a", "b")
        assert not {Role.AGGRAVATING, Role.INNOCENT} & set(found.roles.values())


def test_what_is_left_without_an_aggravating_toggle_is_shown_corrupt_alone() -> None:
    found, _ = over_worlds("ab", culprits=ONE, p1=0.0425, attenuate={"b": 4.0})
    held = [one for one in found if one.culprits == ("a",) and one.verdict is Verdict.CONFIRMED]
    assert held
    for one in held:
        alone = next(arm for arm in one.arms if arm.name == "culprits alone")
        assert (alone.config, one.sufficient) == (Config(ONE), True)
        assert alone.tally.corrupt


def test_one_corrupt_unit_of_the_culprits_alone_suffices_where_the_checker_is_exact() -> None:
    for seed in range(4):
        world = SimulatedWorld(TOGGLES, PAIR, p1=0.025, seed=seed)
        found, _ = confirmed(world, "ab")
        alone = next(arm for arm in found.arms if arm.name == "culprits alone")
        assert found.sufficient is (True if alone.tally.corrupt else None)
        assert alone.tally.corrupt


def test_a_background_is_told_from_what_is_left_by_more_units() -> None:
    params = Parameters(budget=20_000, exact=False)
    for seed in range(6):
        world = SimulatedWorld(TOGGLES, ONE, p1=0.03, attenuate={"b": 10.0}, seed=seed)
        found, _ = confirmed(world, "ab", params)
        assert found.verdict is not Verdict.SUSPECT


def test_culprits_that_cannot_be_run_alone_are_confirmed_in_their_context() -> None:
    class Refusing(Answers):
        def probe(self, config: Config, indices: range) -> Outcome:
            if config.bad == PAIR:
                raise Refused("no such thing")
            return super().probe(config, indices)

    found = _confirm(Refusing({}))
    assert found.verdict is Verdict.CONFIRMED
    assert found.sufficient is None
    assert "culprits alone: the target cannot run it (no such thing)" in found.others
    assert set(found.roles.values()) == {Role.NECESSARY, Role.NOT_SEPARABLE}


def test_a_budget_too_small_for_a_round_is_shared_by_its_arms() -> None:
    world = SimulatedWorld(TOGGLES, PAIR, p1=0.47)
    _, whole = confirmed(world, "ab")
    for less in (1, 20, 45):
        budget = whole.spent - less
        found, notebook = confirmed(world, "ab", Parameters(budget=budget))
        assert notebook.spent == budget
        units = [arm.tally.units for arm in found.arms if "without" in arm.name]
        assert max(units) - min(units) <= 2


def test_a_checker_that_errs_has_a_baseline_arm_and_a_background_is_not_aggravating() -> None:
    params = Parameters(budget=9000, exact=False)
    for seed in range(6):
        world = SimulatedWorld(TOGGLES, PAIR, p1=0.47, p0=0.004, seed=seed)
        found, _ = confirmed(world, "ab", params)
        assert found.sufficient
        assert "baseline" in {arm.name for arm in found.arms}
        assert Role.AGGRAVATING not in (found.roles["a"], found.roles["b"])


def test_the_bounds_of_a_necessary_culprit_are_printed_with_its_arm() -> None:
    found, notebook = confirmed(SimulatedWorld(TOGGLES, PAIR, p1=0.47), "ab")
    whole = notebook.tally(SPACE.suspect, Unit.SESSION)
    arms = {arm.name: arm for arm in found.arms}
    assert list(arms) == ["all", "without a", "without b", "culprits alone"]
    for key in PAIR:
        arm = arms[f"without {key}"]
        assert arm.tally.corrupt == 0
        assert arm.upper == upper_bound(0, arm.tally.units, 0.01)
        assert arm.upper < whole.rate / 10
        assert arm.e_value is not None and arm.e_value >= 300  # three comparisons at .01
    assert arms["culprits alone"].tally.corrupt
    assert arms["culprits alone"].config == Config(PAIR)


def test_arms_are_interleaved_on_paired_fresh_seeds_and_a_decided_arm_gets_no_more() -> None:
    _, notebook = confirmed(SimulatedWorld(TOGGLES, PAIR, p1=0.47), "ab")
    probes = [probe for probe in notebook.probes if probe.phase is Phase.CONFIRM]
    asked = [probe.config for probe in probes]
    assert len(set(asked[:4])) == 4
    assert len({probe.outcome[0].index for probe in probes[:4]}) == 1
    earlier = {t.index for t in notebook.trials(None, Phase.REPRODUCE)}
    assert earlier.isdisjoint(t.index for t in notebook.trials(None, Phase.CONFIRM))
    assert asked.count(Config(PAIR)) < asked.count(SPACE.suspect.without("a"))


def test_equal_worlds_give_equal_probes() -> None:
    runs = [confirmed(SimulatedWorld(TOGGLES, PAIR, seed=4), "ab") for _ in range(2)]
    assert runs[0][1].probes == runs[1][1].probes
    assert runs[0][0] == runs[1][0]


def test_a_short_budget_leaves_a_suspect_with_what_is_known() -> None:
    world = SimulatedWorld(TOGGLES, PAIR, p1=0.47)
    _, whole = confirmed(world, "ab")
    found, notebook = confirmed(world, "ab", Parameters(budget=whole.spent - 60))
    assert found.verdict is Verdict.SUSPECT
    assert found.sufficient
    assert Role.NOT_SEPARABLE in (found.roles["a"], found.roles["b"])
    assert sum(arm.tally.units for arm in found.arms) == cost(notebook)
    assert any("confirmation ended early" in line for line in found.others)


def test_what_needs_a_culprit_goes_with_it_and_only_the_needing_one_is_told_apart() -> None:
    space = replace(SPACE, needs={"b": frozenset("a")})
    found, _ = confirmed(SimulatedWorld(TOGGLES, PAIR, p1=0.47), "ab", space=space)
    assert found.verdict is Verdict.CONFIRMED
    assert found.roles["b"] is Role.NECESSARY
    assert found.roles["a"] is Role.NOT_SEPARABLE
    assert found.culprits == ("a", "b")
    assert "without a" not in {arm.name for arm in found.arms}


def test_an_arm_that_the_target_refuses_confirms_nothing() -> None:
    rest = frozenset("bcdef")

    class Refusing(Answers):
        def probe(self, config: Config, indices: range) -> Outcome:
            if config.bad == rest:
                raise Refused("no such thing")
            return super().probe(config, indices)

    found = _confirm(Refusing({}))
    assert found.verdict is Verdict.SUSPECT
    assert found.roles["a"] is Role.NOT_SEPARABLE
    assert any("without a: the target cannot run it (no such thing)" in x for x in found.others)


def test_an_arm_that_never_went_where_its_settings_point_confirms_nothing() -> None:
    found = _confirm(Answers({SPACE.suspect.without("a"): "never copied a page"}))
    assert found.verdict is Verdict.SUSPECT
    assert found.roles["a"] is Role.NOT_SEPARABLE
    assert found.roles["b"] is Role.NECESSARY
    assert "without a: never copied a page" in found.others


def test_an_arm_that_shows_nothing_is_given_up() -> None:
    found = _confirm(Answers({}, silent=SPACE.suspect.without("b")))
    assert found.verdict is Verdict.SUSPECT
    assert any("without b: " in x and "show nothing (wedged)" in x for x in found.others)


def test_nothing_to_confirm_is_an_error() -> None:
    notebook = Notebook(SimulatedWorld(TOGGLES), 100)
    nothing = Discovery((), TOGGLES)
    with pytest.raises(ValueError, match="nothing to confirm"):
        confirm(notebook, SPACE, Parameters(), Unit.SESSION, nothing, Tally())


def test_the_bar_of_a_clean_arm_is_46_over_the_rate() -> None:
    for rate, units in ((0.97, 46), (0.47, 96), (0.17, 269)):
        bar = Bar(rate, 0.01, 0.01, exact=True)
        assert bar.needed() == units
        assert upper_bound(0, units, 0.01) < bar.gone <= upper_bound(0, units - 1, 0.01)


def test_the_looks_of_a_checker_that_errs_share_alpha() -> None:
    bar = Bar(0.17, 0.01, 0.01, exact=False)
    assert sum(bar.spent(k) for k in range(10_000)) == pytest.approx(0.01, rel=1e-3)
    assert bar.needed(0) < bar.needed(1) < bar.needed(5)
    assert not bar.hopeless(1)
    assert bar.hopeless(40)


class Answers:
    """Corrupt in every second trial where a and b are bad; some arms say why they show nothing."""

    batch_sessions, boot_cost = 1, 0.0

    def __init__(self, reasons: Mapping[Config, str], silent: Config | None = None) -> None:
        self.reasons, self.silent = reasons, silent

    def probe(self, config: Config, indices: range) -> Outcome:
        corrupt = int(config.bad >= PAIR)
        unknown = "wedged" if config == self.silent else ""
        return tuple(Trial(i, 1, corrupt * (i % 2), unknown=unknown) for i in indices)

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        return self.reasons.get(config, "")


def _confirm(world: Answers) -> Confirmation:
    found = Discovery(("a", "b"), TOGGLES, 0.99)
    notebook = Notebook(world, 2000)
    return confirm(notebook, SPACE, Parameters(), Unit.SESSION, found, Tally(20, 10))

"""Phase 0: what is there to find, and what an arm has to prove."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.bisect.conclusion import Verdict
from lab.bisect.notebook import Notebook, Phase
from lab.bisect.parameters import Parameters
from lab.bisect.reproduce import Reproduction, excluded, reproduce
from lab.bisect.space import Config, Space
from lab.bisect.trials import Tally, Trial, Unit
from lab.bisect.worlds import SimulatedWorld
from tests.lab.bisect.fakes import Script, ScriptedWorld, clean, corrupt, every, wedged

SPACE = Space(("graph", "pd"))
PARAMS = Parameters()


def script(bad: Script, good: Script) -> Script:
    """One answer with every toggle bad, another with every toggle good."""
    return lambda config, index: (bad if config.bad else good)(config, index)


def shown(
    world: ScriptedWorld | SimulatedWorld, params: Parameters = PARAMS, budget: int = 5000
) -> tuple[Reproduction, Notebook]:
    """What phase 0 concludes, and what it asked."""
    book = Notebook(world, budget)
    return reproduce(book, SPACE, params), book


def test_five_corrupt_units_reproduce_and_as_many_units_control() -> None:
    found, book = shown(ScriptedWorld(script(every(3, corrupt(), clean()), clean())))
    assert found == Reproduction(None, "", Unit.SESSION, Tally(15, 5), Tally(15, 0))
    assert book.spent == 30


def test_no_more_is_run_than_five_corrupt_units_need() -> None:
    world = SimulatedWorld(SPACE.toggles, frozenset({"pd"}), p1=0.17, seed=3)
    _, book = shown(world)
    seen = book.trials(SPACE.suspect, Phase.REPRODUCE)
    assert sum(trial.corrupt for trial in seen) == 5
    assert seen[-1].corrupt == 1


def test_228_clean_sessions_are_not_reproduced_and_say_what_they_exclude() -> None:
    found, book = shown(ScriptedWorld(clean()))
    assert found.verdict is Verdict.NOT_REPRODUCED
    assert found.reason == (
        "with every toggle bad: 0 of 228 sessions corrupt, so fewer than 2 % are (at 99 %)"
    )
    assert book.spent == 228
    assert book.trials(SPACE.baseline) == []


def test_clean_boots_say_what_they_exclude_in_sessions_and_in_boots() -> None:
    found, book = shown(ScriptedWorld(clean(8), batch_sessions=8))
    assert found.reason == (
        "with every toggle bad: 0 of 392 sessions corrupt, so fewer than 1.2 % are (at 99 %) if the"
        " sessions of a boot are independent;"
        " 0 of 49 boots corrupt, so fewer than 9 % are (at 99 %)"
    )
    assert book.spent == 392


def test_boots_asked_for_by_name_are_counted_to_228() -> None:
    found, book = shown(ScriptedWorld(clean(2), batch_sessions=2), replace(PARAMS, unit="boot"))
    assert found.verdict is Verdict.NOT_REPRODUCED
    assert len(book.trials()) == 228


def test_what_an_exact_checker_saw_is_reproduced_however_rare() -> None:
    rare = ScriptedWorld(script(every(220, corrupt(), clean()), clean()))
    found, book = shown(rare, budget=900)
    assert found.verdict is Verdict.UNDETERMINED
    assert found.reason.startswith(
        "reproduced: 4 of 900 sessions corrupt with every toggle bad, rarer than 2 % (at 99 %); 900"
    )
    found, book = shown(rare, budget=3000)
    assert found.verdict is None
    assert found.bad == Tally(1100, 5)
    assert book.spent == 2200


def test_few_units_do_not_say_that_it_is_rare() -> None:
    found, _ = shown(ScriptedWorld(script(every(50, corrupt(), clean()), clean())), budget=120)
    assert found.reason.startswith(
        "reproduced: 2 of 120 sessions corrupt with every toggle bad; 120 of 120"
    )


def test_a_rate_below_the_one_sought_is_not_reproduced_where_the_checker_may_err() -> None:
    rare = ScriptedWorld(script(every(260, corrupt(), clean()), clean()))
    found, _ = shown(rare, replace(PARAMS, exact=False, p_min=0.02))
    assert found.verdict is Verdict.NOT_REPRODUCED
    found, _ = shown(
        ScriptedWorld(script(every(220, corrupt(), clean()), clean())),
        replace(PARAMS, exact=False),
    )
    assert found.verdict is Verdict.NOT_REPRODUCED
    assert " 2 of " in found.reason or " 1 of " in found.reason


def test_one_corrupt_session_ends_the_count_of_clean_ones() -> None:
    assert excluded(Tally(228, 0), PARAMS)
    assert not excluded(Tally(227, 0), PARAMS)
    assert not excluded(Tally(5000, 1), PARAMS)
    errs = replace(PARAMS, exact=False)
    assert not excluded(Tally(228, 0), errs)
    assert not excluded(Tally(228, 1), errs)
    assert excluded(Tally(5000, 1), errs)


@pytest.mark.parametrize("exact", [True, False])
def test_the_smallest_rate_sought_is_called_too_rare_in_one_case_of_a_hundred(exact: bool) -> None:
    """Every path of up to five corrupt units, unit by unit, at that very rate."""
    params = replace(PARAMS, exact=exact)
    chances, missed = {0: 1.0}, 0.0
    for units in range(1, 700):
        after: dict[int, float] = {}
        for k, chance in chances.items():
            after[k] = after.get(k, 0.0) + chance * (1 - params.p_min)
            after[k + 1] = after.get(k + 1, 0.0) + chance * params.p_min
        after.pop(params.enough, None)  # reproduced
        ended = [k for k in after if excluded(Tally(units, k), params)]
        missed += sum(after.pop(k) for k in ended)
        chances = after
    assert 0.005 < missed <= 0.01


def test_a_wedged_target_is_a_matter_of_liveness_and_soon_told() -> None:
    found, book = shown(ScriptedWorld(wedged()))
    assert found.verdict is Verdict.LIVENESS
    assert found.reason == "5 of 5 trials wedged with every toggle bad, and no reply is corrupt"
    assert book.spent == 5


def test_a_rare_wedge_among_clean_trials_is_liveness_too() -> None:
    found, _ = shown(ScriptedWorld(every(100, wedged(), clean())))
    assert found.verdict is Verdict.LIVENESS
    assert found.reason.startswith("2 of 230 trials wedged")


def test_corruption_outweighs_a_wedge() -> None:
    found, _ = shown(ScriptedWorld(script(every(2, wedged(), corrupt()), clean())))
    assert found.verdict is None
    assert found.bad == Tally(5, 5)


def test_trials_that_show_nothing_are_invalid() -> None:
    def lost(config: Config, index: int) -> Trial:
        return Trial(index, 1, 0, unknown="replies are missing")

    found, book = shown(ScriptedWorld(lost))
    assert found.verdict is Verdict.INVALID
    assert found.reason == (
        "every toggle bad: none of 10 trials shows anything (replies are missing)"
    )
    assert book.spent == 10
    found, _ = shown(ScriptedWorld(script(corrupt(), lost)))
    assert found.verdict is Verdict.INVALID
    assert found.reason.startswith("every toggle good: none of 10 trials")


@pytest.mark.parametrize("bad", [clean(), corrupt()])
def test_an_arm_that_never_took_its_paths_is_invalid(bad: Script) -> None:
    world = ScriptedWorld(
        script(bad, clean()), unexercised_in={SPACE.suspect: "no graph was replayed"}
    )
    found, book = shown(world)
    assert found.verdict is Verdict.INVALID
    assert found.reason == "every toggle bad: no graph was replayed"
    assert world.proofs == [(SPACE.suspect, len(book.trials()))]


def test_a_baseline_that_never_took_its_paths_is_invalid() -> None:
    world = ScriptedWorld(
        script(every(3, corrupt(), clean()), clean()), unexercised_in={Config(): "nothing ran"}
    )
    found, _ = shown(world)
    assert found.verdict is Verdict.INVALID
    assert found.reason == "every toggle good: nothing ran"
    assert world.proofs == [(SPACE.suspect, 15), (SPACE.baseline, 15)]


def test_one_corrupt_session_of_the_baseline_is_enough_where_the_checker_is_exact() -> None:
    found, book = shown(
        ScriptedWorld(script(every(9, corrupt(), clean()), every(7, corrupt(), clean())))
    )
    assert found.verdict is Verdict.NOT_CONTROLLED
    assert found.good.corrupt == 1
    assert book.spent < 2 * found.bad.units


def test_a_background_within_the_tolerance_is_controlled_where_the_checker_may_err() -> None:
    params = replace(PARAMS, exact=False)
    rare = every(100, corrupt(), clean())
    found, _ = shown(ScriptedWorld(script(every(30, corrupt(), clean()), rare)), params)
    assert found.verdict is None
    assert found.good == Tally(150, 2)


def test_a_background_surely_above_the_tolerance_is_not_controlled() -> None:
    params = replace(PARAMS, exact=False)
    same = every(9, corrupt(), clean())
    found, _ = shown(ScriptedWorld(same), params)
    assert found.verdict is Verdict.NOT_CONTROLLED
    assert found.reason == (
        "5 of 45 sessions corrupt with every toggle good: no toggle on offer controls it"
    )


def test_a_configuration_that_the_target_refuses_is_invalid_and_says_why() -> None:
    refuses = {SPACE.suspect: "no graph over pd"}
    found, _ = shown(ScriptedWorld(clean(), refuses=refuses))
    assert found.verdict is Verdict.INVALID
    assert found.reason == "every toggle bad: the target cannot run it (no graph over pd)"
    refuses = {SPACE.baseline: "needs pd"}
    found, _ = shown(ScriptedWorld(corrupt(), refuses=refuses))
    assert found.reason == "every toggle good: the target cannot run it (needs pd)"


def test_a_budget_that_ends_first_is_undetermined_and_says_what_would_do() -> None:
    found, book = shown(ScriptedWorld(clean()), budget=100)
    assert found.verdict is Verdict.UNDETERMINED
    assert "100 of 100 sessions are spent; 228 sessions, all clean, or 5 corrupt" in found.reason
    assert found.bad == Tally(100, 0)
    assert book.spent == 100


def test_controls_have_seeds_of_their_own() -> None:
    _, book = shown(ScriptedWorld(script(every(3, corrupt(), clean()), clean())))
    indices = [trial.index for trial in book.trials()]
    assert len(set(indices)) == len(indices)


def test_sessions_of_a_boot_count_as_one_unit_until_shown_independent() -> None:
    found, book = shown(ScriptedWorld(script(corrupt(3, 8), clean(8)), batch_sessions=8))
    assert found == Reproduction(None, "", Unit.BOOT, Tally(5, 5), Tally(5, 0))
    assert book.spent == 80

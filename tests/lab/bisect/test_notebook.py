"""Indices are never used twice, pairs share theirs, and the budget is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.bisect.notebook import Notebook, OutOfBudget, Phase, Probe, Refused
from lab.bisect.space import Config
from lab.bisect.trials import Tally, Unit
from tests.lab.bisect.fakes import ScriptedWorld, clean, corrupt

ALL, SOME = Config(frozenset({"graph", "pd"})), Config(frozenset({"pd"}))
ASKS = st.lists(
    st.tuples(
        st.sampled_from(list(Phase)),
        st.sampled_from([ALL, SOME, Config()]),
        st.integers(1, 5),
        st.booleans(),
    ),
    max_size=20,
)


@given(ASKS)
def test_no_index_is_used_twice_but_by_pairs_of_one_phase(
    asks: list[tuple[Phase, Config, int, bool]],
) -> None:
    world = ScriptedWorld(clean())
    book = Notebook(world, 1000)
    pairs: dict[Phase, dict[Config, list[int]]] = {}
    fresh: list[int] = []
    for phase, config, trials, paired in asks:
        indices = [t.index for t in book.ask(phase, config, trials, paired=paired)]
        if paired:
            pairs.setdefault(phase, {}).setdefault(config, []).extend(indices)
        else:
            fresh += indices
    of_pairs = [
        index
        for arms in pairs.values()
        for index in sorted({index for arm in arms.values() for index in arm})
    ]
    assert len([*fresh, *of_pairs]) == len({*fresh, *of_pairs})
    for arms in pairs.values():
        longest = max(arms.values(), key=len)
        assert all(arm == longest[: len(arm)] for arm in arms.values())


def test_a_probe_beyond_the_budget_is_not_run() -> None:
    world = ScriptedWorld(clean(8), batch_sessions=8)
    book = Notebook(world, 20)
    book.ask(Phase.DISCOVER, ALL, 2)
    with pytest.raises(OutOfBudget, match="16 of 20 sessions are spent"):
        book.ask(Phase.DISCOVER, ALL, 1)
    assert len(world.asked) == 1
    assert book.spent == 16


def test_the_last_probe_is_as_large_as_fits() -> None:
    book = Notebook(ScriptedWorld(clean(8), batch_sessions=8), 30)
    book.ask(Phase.DISCOVER, ALL, 2)
    assert len(book.ask(Phase.DISCOVER, ALL, 4)) == 1
    assert book.spent == 24
    with pytest.raises(OutOfBudget):
        book.ask(Phase.DISCOVER, ALL, 1)


def test_the_last_session_of_the_budget_can_be_spent() -> None:
    book = Notebook(ScriptedWorld(clean()), 3)
    book.ask(Phase.DISCOVER, ALL, 3)
    assert book.spent == book.budget


def test_a_refusal_costs_nothing_and_is_remembered() -> None:
    book = Notebook(ScriptedWorld(clean(), refuses={ALL: "no graph over pd"}), 10)
    with pytest.raises(Refused):
        book.ask(Phase.DISCOVER, ALL, 2)
    assert book.refused == {ALL: "no graph over pd"}
    assert book.spent == 0
    assert book.probes == []


def test_whoever_watches_is_told_of_every_probe() -> None:
    told: list[Probe] = []
    book = Notebook(ScriptedWorld(corrupt()), 10, told.append)
    book.ask(Phase.REPRODUCE, ALL, 2)
    book.ask(Phase.CONTROL, Config(), 1)
    assert told == book.probes
    assert [probe.sessions for probe in told] == [2, 1]


def test_trials_are_found_by_configuration_and_phase() -> None:
    book = Notebook(ScriptedWorld(corrupt()), 10)
    book.ask(Phase.REPRODUCE, ALL, 2)
    book.ask(Phase.CONFIRM, ALL, 3)
    book.ask(Phase.CONFIRM, SOME, 1)
    assert len(book.trials()) == 6
    assert book.tally(ALL, Unit.SESSION) == Tally(5, 5)
    assert book.tally(ALL, Unit.SESSION, Phase.CONFIRM) == Tally(3, 3)


def test_a_boot_is_a_trial_and_sessions_come_by_whole_trials() -> None:
    book = Notebook(ScriptedWorld(clean(8), batch_sessions=8), 100)
    assert book.trials_for(5, Unit.BOOT) == 5
    assert book.trials_for(17, Unit.SESSION) == 3
    assert book.trials_for(0, Unit.SESSION) == 1

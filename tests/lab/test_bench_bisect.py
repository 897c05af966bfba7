"""The benchmark of the ways to bisect: what it counts, and what it prints."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence

import pytest

from lab.bench_bisect import (
    Answers,
    Ending,
    Endings,
    Job,
    document,
    ended,
    judged,
    measure,
    planned,
    run,
    settings,
    summary,
)
from lab.bench_bisect_cells import (
    BAYES,
    BOTH,
    BY_HAND,
    DDMIN,
    FISHER,
    GROUPS,
    OFAT,
    UNAWARE,
    UNSURE,
    Group,
    selected,
)
from lab.bisect.worlds import SimulatedWorld
from lab.bisecting.workers import Workers
from lab.errors import UserError

KEYS = {"worlds", "mean", "p95", "wrong", "undecided"}


here = Workers(1).run


def quiet(done: int, due: int) -> None:
    """Tells nobody."""


def group(name: str) -> Group:
    return next(each for each in GROUPS if each.name == name)


def test_methods_that_are_told_the_rates_pay_for_no_phase_0() -> None:
    world = SimulatedWorld(tuple("abcdefghij"), frozenset("c"), p1=1.0)
    assert ended(world, OFAT, 0) == (Ending(600, decided=True, wrong=False), None)
    assert ended(world, FISHER, 0) == (Ending(660, decided=True, wrong=False), None)
    discovered, _ = ended(world, DDMIN, 0)
    assert discovered == Ending(
        4, decided=True, wrong=False
    )  # abcde, ab, cde by c, d: a session each


def test_the_search_that_is_told_nothing_pays_for_both_arms_of_phase_0_and_for_confirmation() -> (
    None
):
    world = SimulatedWorld(tuple("abcdefghij"), frozenset("c"), p1=1.0)
    discovered, confirmed = ended(world, BAYES, 0)
    assert discovered.decided and not discovered.wrong and discovered.spent > 10
    assert confirmed is not None and confirmed.spent > discovered.spent
    assert confirmed.decided and not confirmed.wrong


def test_a_rate_that_is_not_reproduced_is_a_wrong_answer() -> None:
    """There are culprits, and `NOT-REPRODUCED` says that there is nothing to find."""
    world = SimulatedWorld(tuple("abcdefghij"), frozenset("c"), p1=1e-9)
    assert ended(world, BAYES, 0) == (Ending(228, True, True), Ending(228, True, True))


def test_an_answer_is_right_wrong_or_none() -> None:
    world = SimulatedWorld(tuple("abc"), frozenset("ab"))
    assert judged(world, ("b", "a"), 9) == Ending(9, decided=True, wrong=False)
    assert judged(world, ("a",), 9) == Ending(9, decided=True, wrong=True)
    assert judged(world, (), 9) == Ending(9, decided=True, wrong=True)  # no toggle: wrong, too
    assert judged(world, None, 9) == Ending(9, decided=False, wrong=False)


def test_a_summary_has_the_mean_the_95th_percentile_and_the_shares() -> None:
    endings = [Ending(spent, spent > 10, spent > 19) for spent in range(1, 21)]
    found = summary(endings)
    assert (found.worlds, found.mean, found.p95) == (20, 10.5, 19)
    assert (found.wrong, found.undecided) == (5.0, 50.0)


def test_every_contender_of_a_cell_meets_the_same_worlds_and_every_cell_others() -> None:
    rates = group("rates")
    assert rates.world(0, 0.17, 2, 5) == rates.world(0, 0.17, 2, 5)
    seeds = {
        rates.world(s, p, k, i).seed
        for s in (0, 1)
        for p in (0.17, 0.06)
        for k in (1, 2)
        for i in (0, 1)
    }
    assert len(seeds) == 16


def test_the_culprits_are_uniform_among_the_sets_of_their_size() -> None:
    drawn = [group("rates").world(0, 0.17, 1, i).culprits for i in range(400)]
    counts = [drawn.count(frozenset(key)) for key in "abcdefghij"]
    assert min(counts) >= 20 and max(counts) <= 60


def test_a_misspecified_world_differs_in_what_its_table_says() -> None:
    assert group("background").world(0, 0.17, 1, 0).p0 == 0.005
    boots = group("boots").world(0, 0.17, 1, 0)
    assert (boots.rho, boots.batch_sessions) == (0.2, 6)
    for name, factor in (("halved", 0.5), ("quartered", 0.25)):
        world = group(name).world(0, 0.17, 3, 0)
        assert sorted(world.attenuate.values()) == [factor, factor]
        assert not world.culprits & set(world.attenuate)
    assert UNAWARE.settings == {"exact": True}


def test_the_checker_is_known_to_be_exact_where_there_is_no_background() -> None:
    clean = group("rates").world(0, 0.17, 1, 0)
    noisy = group("background").world(0, 0.17, 1, 0)
    assert settings(clean, BAYES, 0).exact and not settings(clean, UNSURE, 0).exact
    assert not settings(noisy, BAYES, 0).exact and settings(noisy, BAYES, 0).told is None
    told = settings(noisy, DDMIN, 0)
    assert (told.told, told.p_tol, told.exact) == (0.17, 0.005, False)
    assert settings(noisy, UNAWARE, 0).exact


def test_without_a_choice_every_method_is_run_on_every_kind_of_world() -> None:
    groups = selected((), quick=False)
    assert groups == GROUPS
    assert groups[0].contenders == (*BY_HAND, *BOTH, UNSURE)
    assert [job.k for job in planned(groups[:1], 1, 0)] == [1, 2, 3] * 3


def test_a_quick_one_has_one_rate_and_no_misspecified_world() -> None:
    (only,) = selected(("ddmin", "bayes"), quick=True)
    assert only.rates == (0.17,)
    assert [each.name for each in only.contenders] == ["ddmin", "bayes"]


def test_worlds_of_which_few_are_run_are_at_least_one() -> None:
    assert len(planned([group("rare")], 200, 0)) == 3 * 20
    assert len(planned([group("rare")], 2, 0)) == 3


def test_an_unknown_method_is_one_line_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"no 'ddmax'; accepted: ofat, ofat-fisher, ddmin, .*bayes"):
        selected(("ddmax",), quick=False)


def test_the_figures_do_not_depend_on_where_the_worlds_are_searched() -> None:
    groups = selected(("ddmin", "quickxplain"), quick=True)
    work = planned(groups, 3, 7)

    def last_first(task: Callable[[Job], Endings], given: Sequence[Job]) -> Answers:
        return [(at, task(given[at])) for at in reversed(range(len(given)))]

    assert measure(work, quiet, here) == measure(work, quiet, last_first)
    assert measure(work, quiet, here) != measure(planned(groups, 3, 8), quiet, here)


def test_progress_is_told_after_every_world() -> None:
    told: list[tuple[int, int]] = []
    work = planned(selected(("ofat",), quick=True), 2, 0)
    measure(work, lambda done, due: told.append((done, due)), here)
    assert told == [(i + 1, 6) for i in range(6)]


def test_the_document_has_every_cell_with_its_bound_and_every_row_with_its_worlds() -> None:
    work = planned(selected(("ddmin-wald",), quick=True), 2, 0)
    found = document(measure(work, quiet, here), 0)
    assert [(cell["k"], cell["lower_bound"]) for cell in found["cells"]] == [
        (1, 33.6),
        (2, 56.1),
        (3, 70.7),
    ]
    for cell in found["cells"]:
        (row,) = cell["rows"]
        assert row["label"] == "ddmin, Wald" and row["told"] and row["confirmed"] is None
        assert set(row["discovered"]) == KEYS and row["discovered"]["worlds"] == 2


def test_one_world_is_one_ending_a_contender() -> None:
    job = planned(selected(("ofat", "quickxplain"), quick=True), 1, 0)[0]
    assert [confirmed for _, confirmed in run(job)] == [None, None]


def test_a_job_can_be_sent_to_another_process() -> None:
    for job in planned(GROUPS, 1, 0):
        assert pickle.loads(pickle.dumps(job)) == job

"""Candidates are compared and timed one after another, and one that fails stops nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kernels.production.case import Case
from lab.kernel_bench.compiling import Task, call_once, tasks
from lab.kernel_bench.tables import tuned as table
from lab.kernel_bench.trying import COMPILED, OURS, PLAIN
from lab.kernel_bench.tuning import Tuned, Tuner
from tests.lab.kernel_bench.cases import CEILINGS, FakeStopwatch, case, failing


def tune(
    given: Case, times: list[float], failed: Any = None, seconds: float = 20.0
) -> tuple[Tuned, list[str]]:
    said: list[str] = []
    tuner = Tuner(FakeStopwatch(times), CEILINGS, failed or {}, seconds, said.append)
    return tuner.tune(given), said


def test_every_version_is_timed_and_the_fastest_that_is_right_is_the_best() -> None:
    tuned, said = tune(case(), [5.0, 1.5, 0.1, 1.25])
    times = {each.name: each.ms for each in tuned.tried}
    assert times == {PLAIN: 5.0, OURS: 1.5, "wrong": 0.1, "fails": None, "also": 1.25}
    assert tuned.document()["best"] == "also" and tuned.floor_ms == 1.0
    assert "  also: 1.2500 ms, 1.25x the floor, off by 0.0e+00" in said


def test_a_wrong_candidate_and_one_that_fails_are_told_in_a_line_each() -> None:
    tuned, said = tune(case(), [5.0, 1.5, 0.1, 1.25])
    errors = {each.name: each.error for each in tuned.tried if each.error}
    assert errors["wrong"] == "wrong: relative l2 error 0.5"
    assert errors["fails"] == "RuntimeError: out of shared memory ... Hardware limit: 232448"
    assert all("\n" not in line for line in said)


def test_what_failed_when_it_was_compiled_is_not_called_again() -> None:
    tuned, _ = tune(case(), [5.0, 1.5, 0.1], {("double, 8 numbers", "also"): "it hung"})
    assert tuned.tried[-1].error == "it hung" and tuned.tried[-1].ms is None


def test_candidates_beyond_the_budget_are_listed_as_skipped() -> None:
    tuned, _ = tune(case(), [], seconds=0.0)
    assert [each.error for each in tuned.tried] == ["skipped: 0 s were spent"] * 5
    assert tuned.best is None


def test_without_plain_torch_that_runs_candidates_are_compared_with_the_choice() -> None:
    tuned, said = tune(case(plain=failing), [1.5, 0.1, 1.25])
    assert "plain torch cannot run" in said[1]
    assert [each.name for each in tuned.tried if each.ms] == [OURS, "wrong", "also"]


def test_a_case_whose_inputs_cannot_be_made_is_one_line() -> None:
    tuned, _ = tune(case(make=failing), [])
    assert len(tuned.tried) == 1 and "out of shared memory" in tuned.tried[0].error


def test_a_case_s_own_choice_is_compiled_and_its_candidates_or_its_torch() -> None:
    found = [("some.module", case()), ("some.module", case(compiles=False, candidates={}))]
    tuning = [task.version for task in tasks(found, "cuda", tuning=True)]
    assert tuning == [OURS, OURS, "wrong", "fails", "also"]
    assert [task.version for task in tasks(found, "cuda", tuning=False)] == [OURS, OURS, COMPILED]


def test_a_case_that_is_not_found_is_an_error_of_its_task() -> None:
    error, lost = call_once(Task("kernels.production.case", "no such", OURS, "cpu"))
    assert "StopIteration" in error and not lost


def test_the_table_has_a_row_a_case() -> None:
    tuned, _ = tune(case(), [5.0, 1.5, 0.1, 1.25])
    document = {"device": "H200", "torch": "2.11", "triton": "3.6", "ceilings": asdict(CEILINGS)}
    made = table(document | {"cases": [tuned.document()]}).renderables[1]  # type: ignore[union-attr]
    assert [list(column.cells) for column in made.columns][:4] == [
        ["double, 8 numbers"],
        ["also"],
        ["1.250"],
        ["1.25"],
    ]

"""What `bench load` makes of its runs: medians, ratios of one round, errors, its table."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lab.bench_load.measuring import Plan, levels_of, row
from lab.bench_load.mock import Pace, Truth
from lab.bench_load.peers import Said
from lab.bench_load.ruler import Rates
from lab.bench_load.running import Run
from lab.bench_load.tables import table
from lab.errors import UserError

PACE = Pace(ttft_s=0.02, itl_s=0.01, tokens=49)  # half a second a reply
PLAN = Plan(levels=(64,), seconds=5.0, rounds=3, pace=PACE)


def ran(per_cpu_s: float, itl_ms: float | None = 10.1, lag: float | None = None) -> Run:
    """One run; of 640 requests, one failed."""
    lags = None if lag is None else {"median_s": lag / 10, "p99_s": lag, "worst_s": 2 * lag}
    truth = Truth(replies=640, ttft_s=0.0205, itl_s=0.010, late_p99_s=0.001, cpu_s=1.0)
    said = Said(639, 22.0, itl_ms, lags)
    return Run(said, truth, Rates(4900.0, 0.25, per_cpu_s * 49), server_cores=0.1)


def rows() -> list[dict[str, Any]]:
    ours = [ran(400.0, lag=0.004), ran(800.0, lag=0.004), ran(420.0, lag=0.06)]
    theirs = [ran(100.0, 10.0), ran(100.0, 9.0), ran(100.0, 9.0)]
    return [row(PLAN, "kvlab", 64, ours, ours), row(PLAN, "guidellm", 64, theirs, ours)]


def test_a_plan_asks_for_what_an_unhindered_run_does_in_that_time() -> None:
    assert (PLAN.requests(64), PLAN.asked_per_s(64)) == (640, 128.0)
    assert Plan(seconds=0.1, pace=PACE).requests(3) == 12
    assert Plan(seconds=5.0, rate=7.0).requests(64) == 35
    assert Plan(rate=7.0).asked_per_s(64) == 7.0


def test_the_middle_of_the_rounds_is_told_and_ratios_are_of_one_round() -> None:
    ours, theirs = rows()
    assert (ours["requests_per_core_s"], ours["ratio"]) == (420.0, None)
    assert (theirs["requests_per_core_s"], theirs["ratio"]) == (100.0, 4.2)
    assert (ours["requests_per_s"], ours["asked_per_s"], ours["cores"]) == (100.0, 128.0, 0.25)
    assert (ours["requests"], ours["failed"]) == (640, 1)


def test_an_error_is_that_of_what_was_told_against_what_was_sent() -> None:
    ours, theirs = rows()
    assert (ours["itl_ms"], ours["itl_sent_ms"], ours["itl_error"]) == (10.1, 10.0, 0.01)
    assert theirs["itl_error"] == -0.1
    assert (ours["lag_median_ms"], ours["lag_p99_ms"]) == (0.4, 4.0)
    assert theirs["lag_p99_ms"] is None


def test_a_generator_that_measured_nothing_has_no_error() -> None:
    runs = [ran(0.0, itl_ms=None)]
    told = row(PLAN, "guidellm", 64, runs, [ran(400.0)])
    assert (told["itl_ms"], told["itl_error"], told["ratio"]) == (None, None, None)


def test_the_table_names_what_must_not_be_believed_and_fits() -> None:
    ours, theirs = rows()
    machine = {"cores": 2, "load_before": 1.5, "load": 2.25}
    pace = {"tokens": 49, "itl_s": 0.01}
    known = {"pace": pace, "rate": 128.0, "rounds": 3, "machine": machine}
    document = known | {"rows": [ours, theirs]}
    console = Console(width=100, file=StringIO())
    console.print(table(document | {"rows": [ours | {"lag_p99_ms": 60.0}, theirs]}))
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in said
    for word in ("49 tokens a reply, 10 ms apart, median of 3 rounds", "load average 1.5", "4.20"):
        assert word in said
    assert "guidellm at 64 sessions: gaps are told wrong by more than 5%" in said
    assert "the load generator is the bottleneck: loop lag p99 60 ms" in said
    assert "achieved 100.0 of 128.0 requests a second" in " ".join(said.split())


@pytest.mark.parametrize("listed", ["", "64,", "x", "0", "-1", "64;256", "2001"])
def test_levels_are_numbers_of_sessions(listed: str) -> None:
    with pytest.raises(UserError, match=r"--sessions: .*64,256"):
        levels_of(listed)


def test_levels_are_kept_in_their_order() -> None:
    assert levels_of("256, 64") == (256, 64)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(beside="wrk"), "--beside: no generator 'wrk'; known: aiperf, guidellm"),
        (Plan(beside="aiperf"), "--python: '' is no file"),
        (Plan(beside="aiperf", python="/nowhere/python"), "--python: '/nowhere/python' is no file"),
        (Plan(beside="aiperf", python=str(Path(__file__)), rate=5.0), "--rate: not beside"),
    ],
)
def test_what_cannot_be_compared_is_a_mistake(plan: Plan, said: str) -> None:
    with pytest.raises(UserError, match=said):
        plan.generators()

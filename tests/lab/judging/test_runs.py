"""A run: arms side by side, expectations, and judging a stored run again."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from lab.judging import expected_verdict, judge_run
from lab.planned import announce, context_of
from lab.scenario.models import Expectation
from lab.stats import fisher, newcombe
from lab.store import open_results
from lab.workloads import resolve
from tests.lab.judging.test_verdicts import RIGHT, WRONG, arm, placed

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import ArmHistory


def named(name: str, corrupt: int, sessions: int = 20, **changes: object) -> ArmHistory:
    replies = [placed(WRONG if s < corrupt else RIGHT, s) for s in range(sessions)]
    return arm(*replies, name=name, **changes)


BAD, GOOD = named("bad", 6), named("good", 0, settings={"graph": False, "radix": True})


def test_each_arm_is_compared_with_the_first() -> None:
    verdict, findings = judge_run("r", "s", 3, [BAD, GOOD], None)
    (pair,) = verdict.comparisons
    assert (pair.a, pair.b, pair.test) == ("bad", "good", "fisher")
    assert pair.p_value == fisher(6, 20, 0, 20)
    assert pair.difference_ci95 == newcombe(6, 20, 0, 20)
    assert pair.difference_ci95[0] > 0  # a minus b: the first arm is worse
    assert (verdict.wall_s, verdict.virtual_s, verdict.seed) == (2.0, 20.0, 3)
    assert list(findings) == ["bad", "good"]


def test_expectations_are_by_name_then_by_star() -> None:
    expect = {"bad": Expectation(verdict="corrupt"), "*": {"verdict": "clean"}}
    verdict, _ = judge_run("r", "s", 0, [BAD, GOOD], expect)
    assert [found.expected for found in verdict.arms] == ["corrupt", "clean"]
    assert expected_verdict({}, "bad") is None
    assert expected_verdict(None, "bad") is None


def test_expected_violations_are_read_with_the_verdict() -> None:
    wanted = Expectation(verdict="corrupt", violations=("padded_row_wrote_owned_slot",))
    verdict, _ = judge_run("r", "s", 0, [BAD, GOOD], {"bad": wanted, "*": {"verdict": "clean"}})
    assert verdict.arms[0].expected_violations == ("padded_row_wrote_owned_slot",)
    assert verdict.arms[1].expected_violations == ()


def test_arms_of_one_configuration_must_have_one_history() -> None:
    other = replace(named("again", 0), history_digest="sha256:1")
    twice = [named("first", 0), replace(named("again", 0)), replace(other, name="third")]
    verdict, _ = judge_run("r", "s", 0, twice, None)
    assert [found.verdict for found in verdict.arms] == ["clean", "clean", "nondeterministic"]
    assert "'first'" in verdict.arms[2].reason


def test_a_stored_run_judges_as_it_did_before_it_was_stored(tmp_path: Path) -> None:
    before = judge_run("r", "s", 0, [BAD, GOOD], None)
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("s", "yaml", 0, {})
        for history in (BAD, GOOD):
            results.save_arm(run, history)
        results.save_verdict(run, before[0], before[1])
        again = judge_run("r", "s", 0, results.histories(run), None)
    assert [asdict(found) for found in again[0].arms] == [asdict(f) for f in before[0].arms]
    assert again == before


def test_the_plan_comes_back_out_of_the_history() -> None:
    from engine.events import EventLog

    plans = resolve("tool_sessions", "small", {"sessions": 4, "groups": 2}).plan(0)
    log = EventLog(lambda: 0)
    announce(plans, log)
    context = context_of(log.events)
    assert list(context.tools) == [tool["function"]["name"] for tool in plans[0].tools]
    for plan in plans:
        assert all(context.owners[word] == (plan.index,) for word in plan.secrets)
        for turn in plan.turns:
            for value in turn.expected_call["arguments"].values():
                assert plan.index in context.owners[value]
    shared = plans[0].turns[1].expected_call["arguments"].values()
    assert all(context.owners[value] == (0, 2) for value in shared)


@pytest.mark.parametrize("corrupt", [0, 20])
def test_the_interval_holds_the_rate(corrupt: int) -> None:
    verdict, _ = judge_run("r", "s", 0, [named("one", corrupt)], None)
    (found,) = verdict.arms
    assert found.ci95[0] <= found.rate <= found.ci95[1]

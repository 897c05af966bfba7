"""Two runs side by side: what is paired, what is corrected for, and what is told first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lab.comparing import compare, report
from lab.comparing.arms import FISHER, MCNEMAR
from lab.errors import UserError
from lab.records import NO_DIGEST, ArmHistory
from lab.repeats import BY_BOOT
from lab.store import Results, open_results
from tests.lab.samples import findings, history, run_verdict

YAML = (
    "name: any\nbuild: [{}]\nworkload: {{kind: tool_sessions, preset: reference, sessions: 60}}\n"
)
ARM = "bf16, graph on"


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    """An empty database."""
    with open_results(tmp_path / "lab.duckdb") as opened:
        yield opened


def stored(
    results: Results, corrupt: dict[str, int], *, seed: int = 7, build: str = "", **fields: Any
) -> str:
    """A judged run of arms with so many corrupt sessions; ``fields`` are of every arm."""
    versions = {"torch": "2.13.0", "sources": build or "healthy"}
    run = results.begin_run("any", YAML.format(build), seed, versions)
    arms = [replace(history(name, corrupt=k), **fields) for name, k in corrupt.items()]
    for arm in arms:
        results.save_arm(run, arm)
    verdict = run_verdict(run, arms, corrupt)
    results.save_verdict(run, verdict, {arm.name: findings(arm) for arm in arms})
    results.finish_run(run, "done")
    return run


def test_equal_seeds_pair_their_sessions(results: Results) -> None:
    a, b = stored(results, {ARM: 10}), stored(results, {ARM: 0}, history_digest="sha256:1")
    found = compare(results, a, b)
    (arm,) = found["arms"]
    assert (arm["test"], arm["pairs"]) == (MCNEMAR, 60)
    assert arm["p_value"] == pytest.approx(2 * 0.5**10)
    assert arm["difference"] == pytest.approx(-1 / 6)
    low, high = arm["ci95"]
    assert -1 <= low < -1 / 6 < high < 0


def test_other_seeds_are_two_samples(results: Results) -> None:
    a, b = stored(results, {ARM: 10}), stored(results, {ARM: 0}, seed=8)
    (arm,) = compare(results, a, b)["arms"]
    assert (arm["test"], arm["pairs"]) == (FISHER, None)
    assert arm["p_value"] == pytest.approx(0.0013, abs=1e-4)


def test_several_arms_are_corrected_for(results: Results) -> None:
    a = stored(results, {ARM: 10, "two": 0, "three": 1})
    b = stored(results, {ARM: 0, "two": 0, "three": 0}, seed=8)
    told = compare(results, a, b)
    first, *others = told["arms"]
    assert first["p_holm"] == pytest.approx(3 * first["p_value"])
    assert [arm["p_holm"] for arm in others] == [1.0, 1.0]
    assert told["answer"].startswith(
        f'B corrupts fewer sessions than A in "{ARM}": 10 of 60 before'
    )
    assert "Holm over 3 arms" in told["answer"]


def test_runs_with_one_history_are_said_to_be_the_same(results: Results) -> None:
    a, b = stored(results, {ARM: 2, "two": 0}), stored(results, {ARM: 2, "two": 0})
    found = compare(results, a, b)
    assert found["same_history"] is True and found["changed"] == {}
    assert found["answer"] == "The runs are the same, event for event: 2 arms with equal digests."


def test_nothing_is_said_of_histories_by_a_wall_clock(results: Results) -> None:
    a, b = (stored(results, {ARM: 0}, history_digest=NO_DIGEST) for _ in range(2))
    found = compare(results, a, b)
    assert found["same_history"] is None and found["arms"][0]["same_history"] is None
    assert "No difference in 1 arm that chance would not make" in found["answer"]
    assert "points is not excluded" in found["answer"]


def test_what_was_changed_is_listed(results: Results) -> None:
    a = stored(results, {ARM: 10})
    b = stored(results, {ARM: 10}, build="lost_row", seed=8, settings={"index_k": "fp8"})
    found = compare(results, a, b)
    assert found["changed"]["build"] == [[], ["lost_row"]]
    assert found["changed"]["seed"] == [7, 8]
    assert found["changed"]["versions"] == {"sources": ["healthy", "lost_row"]}
    assert found["arms"][0]["settings"]["index_k"] == ["bf16", "fp8"]


def test_an_arm_that_was_renamed_is_found_by_its_settings(results: Results) -> None:
    a, b = stored(results, {ARM: 0}), stored(results, {"renamed": 0})
    found = compare(results, a, b)
    assert (found["arms"][0]["name"], found["arms"][0]["name_in_b"]) == (ARM, "renamed")


def test_arms_without_a_counterpart_are_named(results: Results) -> None:
    a = stored(results, {ARM: 0}, settings={"graph": True})
    b = stored(results, {"other": 0}, settings={"graph": False})
    found = compare(results, a, b)
    assert (found["arms"], found["only_in_a"], found["only_in_b"]) == ([], [ARM], ["other"])
    assert "nothing to compare" in found["answer"]


def test_repetitions_are_one_arm_with_boots_for_units(results: Results) -> None:
    def run(corrupt: list[int]) -> str:
        names = [ARM, *(f"{ARM} #{n}" for n in range(2, len(corrupt) + 1))]
        return stored(results, dict(zip(names, corrupt, strict=True)), history_digest=NO_DIGEST)

    found = compare(results, run([30, 0, 0, 0]), run([0, 0, 0, 0]))
    (arm,) = found["arms"]
    assert (arm["test"], arm["a"]["boots"], arm["a"]["sessions"]) == (BY_BOOT, 4, 240)
    assert arm["p_value"] == 1.0


def test_times_that_did_not_change_have_an_interval_about_zero(results: Results) -> None:
    a = stored(results, {ARM: 0})
    b = stored(results, {ARM: 0}, seed=8, history_digest=NO_DIGEST)
    (arm,) = compare(results, a, b)["arms"]
    for name, seconds in (("first token", 0.03), ("reply", 0.1)):
        median = arm["latency"][name]["p50"]
        assert median["a_s"] == pytest.approx(seconds)
        assert median["ci95_s"] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_times_that_grew_are_seen(results: Results) -> None:
    slow = history(ARM)
    replies = [replace(it, done_s=it.sent_s + 0.3) for it in slow.replies]
    a, b = (
        stored(results, {ARM: 0}, history_digest=NO_DIGEST, **more)
        for more in ({}, {"replies": replies})
    )
    (arm,) = compare(results, a, b)["arms"]
    assert arm["latency"]["reply"]["p90"]["paired"]
    low, high = arm["latency"]["reply"]["p90"]["ci95_s"]
    assert low == pytest.approx(0.2) and high == pytest.approx(0.2)


def test_a_run_is_not_compared_with_itself(results: Results) -> None:
    a = stored(results, {ARM: 0})
    with pytest.raises(UserError, match="is both runs"):
        compare(results, a, a)


def test_the_table_begins_with_the_answer_and_fits(results: Results) -> None:
    a = stored(results, {ARM: 10, "two": 0})
    b = stored(results, {ARM: 0, "two": 0}, seed=8, history_digest=NO_DIGEST)
    document = compare(results, a, b)
    console = Console(width=100, file=StringIO())
    console.print(report(document))
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert " ".join(said.split()).startswith(document["answer"])
    assert max(map(len, said.splitlines())) <= 100
    for word in ("10 of 60", "-16.7", "Holm", "leaked_markup", "seed", "by session"):
        assert word in said


def unjudged(results: Results) -> str:
    """A run that nobody judged."""
    run = results.begin_run("any", YAML.format(""), 7, {})
    arm: ArmHistory = history(ARM)
    results.save_arm(run, arm)
    return run


def test_a_run_that_nobody_judged_says_how_to(results: Results) -> None:
    a, b = stored(results, {ARM: 0}), unjudged(results)
    with pytest.raises(UserError, match=f"`kvlab judge {b}` makes it"):
        compare(results, a, b)


def rewritten(results: Results, run: str, **fields: Any) -> None:
    """Store the run's verdict with other fields in every arm."""
    verdict = results.verdict(run)
    arms = tuple(replace(arm, **fields) for arm in verdict.arms)
    results.save_verdict(run, replace(verdict, arms=arms), results.findings(run))


def test_a_run_that_older_rules_judged_is_judged_anew_and_said_to_be(results: Results) -> None:
    a, b = stored(results, {ARM: 10}), stored(results, {ARM: 10}, seed=8)
    rewritten(results, a, rules=0, sessions_corrupt=26, rate=26 / 60)
    told = compare(results, a, b)
    (arm,) = told["arms"]
    assert told["judged_anew"] == [a]
    assert (arm["a"]["sessions_corrupt"], arm["difference"]) == (10, 0.0)
    screen = Console(file=StringIO(), width=160)
    screen.print(report(told))
    assert f"{a} was judged by older rules" in screen.file.getvalue()  # type: ignore[attr-defined]
    assert results.verdict(a).older_rules  # nothing was stored


def test_what_was_missed_counts_where_anything_was(results: Results) -> None:
    a, b = stored(results, {ARM: 0}), stored(results, {ARM: 0})
    rewritten(results, b, sessions_missed=30, missed={"dropped_call": 30})
    told = compare(results, a, b)
    (arm,) = told["arms"]
    assert (arm["test"], arm["difference"], arm["missed_too"]) == (FISHER, 0.5, True)
    assert told["answer"].startswith(
        f'B corrupts or misses more sessions than A in "{ARM}": 0 of 60 before, 30 of 60 now'
    )
    assert arm["missed"] == {"dropped_call": [None, 30]}

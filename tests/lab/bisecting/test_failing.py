"""Which failing trial is left to whoever debugs it, and that a bisection says where it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.bisecting.failing import failing
from lab.bisecting.order import Order
from lab.bisecting.perform import Place, perform
from lab.report.bisection_next import what_next
from lab.scenario.loader import load_scenario
from lab.store import open_results
from lab.trial import run_arm
from tests.lab.bisecting.simulated import Fake, write
from tests.lab.bisections import bisected

SMALLEST = """
name: halved
build: [index_k_under_allocated]
workload: {kind: tool_sessions, preset: small, sessions: 4, turns: 1, think_s: 0.5}
engine: {concurrency: 4}
toggles:
  index_k: {bad: bf16, good: fp8}
  topk: {bad: v1, good: v2}
"""


def test_it_is_a_corrupt_trial_with_the_fewest_toggles_bad() -> None:
    done = bisected()
    found = failing(done)
    assert found is not None
    config, trial = found
    assert trial.corrupt > 0
    assert set(done.conclusion.culprits) <= config.bad
    corrupt = [
        len(probe.config.bad)
        for probe in done.notebook.probes
        if any(trial.corrupt for trial in probe.outcome)
    ]
    assert len(config.bad) == min(corrupt)


def test_without_culprits_there_is_none() -> None:
    done = bisected()
    nobody = replace(done, conclusion=replace(done.conclusion, culprits=()))
    assert failing(nobody) is None


def test_a_bisection_leaves_a_file_that_fails_when_it_is_run(tmp_path: Path) -> None:
    file = tmp_path / "halved.yaml"
    file.write_text(SMALLEST, encoding="utf-8")
    place = Place(tmp_path / "results" / "lab.duckdb", processes=1)
    told, folder = perform(file, Order(no_confirm=True), place)
    assert (told["verdict"], [it["toggle"] for it in told["culprits"]]) == ("SUSPECT", ["index_k"])
    made = told["replay"]
    assert made["scenario"] == str(folder / "replay.yaml")
    again = load_scenario(folder / "replay.yaml")
    history = run_arm(again, again.arms[0], again.seed)
    assert history.history_digest == made["history_digest"]
    assert len(made["sessions"]) < made["sessions_planned"] == 4
    with open_results(place.db) as results:
        assert [run.id for run in results.runs()] == [made["run"]]
        assert results.bisection(told["bisection"]).verdict == told
    assert f"`kvlab run {made['scenario']}`" in what_next(told)[0]


def test_without_a_replay_nothing_is_run_after_the_verdict(tmp_path: Path) -> None:
    place = Place(tmp_path / "results" / "lab.duckdb", None, 1, replay=False)
    told, folder = perform(write(tmp_path), Order(no_confirm=True), place, None, Fake(p1=0.9))
    assert told["replay"] is None
    assert not (folder / "replay.yaml").exists()
    assert not any("kvlab run" in step for step in what_next(told))

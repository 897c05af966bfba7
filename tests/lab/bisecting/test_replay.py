"""A failing trial, shortened, stored, and run again from the file that was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import interrupts
from lab.bisecting import replay as replaying
from lab.bisecting.replay import ARM, replay, source
from lab.errors import UserError
from lab.records import ArmHistory, ArmVerdict, RunVerdict
from lab.scenario.loader import load_scenario, parse_scenario
from lab.scenario.models import Arm, Scenario
from lab.store import Results, open_results
from lab.trial import run_arm
from tests.lab.samples import arm_verdict, history

FILE = """
name: halved
build: [index_k_under_allocated]
workload: {kind: tool_sessions, preset: small, sessions: 3, turns: 1, think_s: 0.5}
engine: {index_k: fp8, concurrency: 4}
arms: [{name: any}]
"""
BAD = {"index_k": "bf16"}


@pytest.fixture
def halved() -> Scenario:
    return parse_scenario(FILE, "halved.yaml")


def test_the_file_repeats_the_trial_in_every_setting(halved: Scenario) -> None:
    again = parse_scenario(source(halved, BAD, 7, (0, 2), "corrupt"), "again.yaml")
    (arm,) = again.arms
    bad = halved.arms[0].model_copy(update={"overrides": BAD})
    assert again.settings(arm) == halved.settings(bad)
    assert again.load(arm) == {**halved.load(bad), "only": [0, 2]}
    assert (again.seed, again.build) == (7, halved.build)
    assert again.expect[ARM].verdict == "corrupt"


def test_a_broken_invariant_that_no_reply_shows_is_corrupt_and_sought_as_one(
    halved: Scenario,
) -> None:
    again = parse_scenario(source(halved, BAD, 7, (0,), "violated"), "again.yaml")
    assert again.expect[ARM].verdict == "corrupt"
    unseen = replace(arm_verdict(history("any"), corrupt=0), verdict="corrupt")
    assert replaying._sought(unseen, "violated")
    assert not replaying._sought(unseen, "corrupt")


def test_a_shortened_trial_is_stored_and_its_file_runs_to_the_same_digest(
    halved: Scenario, tmp_path: Path
) -> None:
    with open_results(tmp_path / "lab.duckdb") as results:
        found = replay(halved, BAD, 0, "corrupt", results, tmp_path / "out")
        (stored,) = results.histories(found.run)
        verdict = results.verdict(found.run).arms[0]
    assert verdict.verdict == "corrupt"
    assert verdict.sessions_corrupt > 0
    assert 0 < len(found.sessions) < found.planned == 3
    again = load_scenario(found.file)
    assert again.seed == found.seed == 0
    assert run_arm(again, again.arms[0], again.seed).history_digest == found.digest
    assert stored.history_digest == found.digest


def test_a_folder_that_cannot_be_made_is_one_line(halved: Scenario, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with (
        open_results(tmp_path / "lab.duckdb") as results,
        pytest.raises(UserError, match=r"replay.yaml: cannot be written"),
    ):
        replay(halved, BAD, 0, "corrupt", results, tmp_path / "out")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sessions each trial had that shortening tried; all of them fail."""
    tried: list[int] = []

    def run(scenario: Scenario, arm: Arm, seed: int, progress: Any) -> ArmHistory:
        tried.append(len(scenario.workload.options["only"]))
        progress(1, 1)
        return history(arm.name, corrupt=1, sessions=1, turns=1)

    monkeypatch.setattr(replaying, "run_arm", run)
    monkeypatch.setattr(replaying, "judge_arm", lambda _: (ended("corrupt"), []))
    return tried


def ended(verdict: str) -> ArmVerdict:
    """What is concluded of an arm with a corrupt session."""
    found = arm_verdict(history(ARM, corrupt=1, sessions=1, turns=1), corrupt=1)
    return replace(found, verdict=verdict)


def test_what_ends_otherwise_in_the_end_is_not_claimed(
    halved: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[int]
) -> None:
    outs: list[Path] = []

    def run(scenario: Scenario, results: Results, progress: Any, out: Path) -> RunVerdict:
        outs.append(out)
        return RunVerdict("any", "halved_failing", 0, 0.0, 0.0, (ended("clean"),), ())

    monkeypatch.setattr(replaying, "run_scenario", run)
    with (
        open_results(tmp_path / "lab.duckdb") as results,
        pytest.raises(UserError, match="the shortened trial ended as clean, not corrupt"),
    ):
        replay(halved, BAD, 0, "corrupt", results, tmp_path / "out")
    assert not (tmp_path / "out" / "replay.yaml").exists()
    assert outs == [tmp_path / "out" / "replay"]
    assert made[-1] == 1


def test_a_signal_that_was_lost_ends_shortening_at_once(
    halved: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[int]
) -> None:
    monkeypatch.setattr(interrupts, "_noted", [])
    monkeypatch.setattr(replaying, "judge_arm", lambda _: (interrupts._noted.append(2), []))
    monkeypatch.setattr(replaying, "_sought", lambda verdict, outcome: False)
    with (
        open_results(tmp_path / "lab.duckdb") as results,
        pytest.raises(KeyboardInterrupt),
    ):
        replay(halved, BAD, 0, "corrupt", results, tmp_path / "out")
    assert len(made) == 1

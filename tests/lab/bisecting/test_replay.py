"""A failing trial, shortened, stored, and run again from the file that was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.bisecting.replay import ARM, replay, source
from lab.errors import UserError
from lab.scenario.loader import load_scenario, parse_scenario
from lab.scenario.models import Scenario
from lab.store import open_results
from lab.trial import run_arm

FILE = """
name: halved
build: [index_k_under_allocated]
workload: {kind: tool_sessions, preset: small, sessions: 4, turns: 1, think_s: 0.5}
engine: {index_k: fp8, concurrency: 4}
arms: [{name: any}]
"""
BAD = {"index_k": "bf16"}


@pytest.fixture
def halved() -> Scenario:
    return parse_scenario(FILE, "halved.yaml")


def test_the_file_repeats_the_trial_in_every_setting(halved: Scenario) -> None:
    again = parse_scenario(source(halved, BAD, 7, (0, 3), "corrupt"), "again.yaml")
    (arm,) = again.arms
    bad = halved.arms[0].model_copy(update={"overrides": BAD})
    assert again.settings(arm) == halved.settings(bad)
    assert again.load(arm) == {**halved.load(bad), "only": [0, 3]}
    assert (again.seed, again.build) == (7, halved.build)
    assert again.expect[ARM].verdict == "corrupt"


def test_a_shortened_trial_is_stored_and_its_file_runs_to_the_same_digest(
    halved: Scenario, tmp_path: Path
) -> None:
    with open_results(tmp_path / "lab.duckdb") as results:
        found = replay(halved, BAD, 0, "corrupt", results, tmp_path / "out")
        (stored,) = results.histories(found.run)
        verdict = results.verdict(found.run).arms[0]
    assert verdict.verdict == "corrupt"
    assert verdict.sessions_corrupt > 0
    assert 0 < len(found.sessions) < found.planned == 4
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

"""A file that is for `bisect` or `sweep` alone: `run` and `ab` say which command takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.commands.conftest import FakeTrial
from tests.lab.scenario.files import CAMPAIGN

SWEPT = """\
name: swept
workload: {kind: tool_sessions, preset: small}
sweep: {concurrency: [1, 2, 4, 8]}
"""


@pytest.mark.parametrize(("text", "command"), [(CAMPAIGN, "bisect"), (SWEPT, "sweep")])
def test_run_names_the_command_that_makes_the_arms(
    text: str, command: str, folder: Path, kvlab
) -> None:
    (folder / "without.yaml").write_text(text, encoding="utf-8")
    said = kvlab("run", "without.yaml")
    what = f"no arms to run; `kvlab {command} without.yaml` makes its own"
    assert (said.code, said.err) == (2, f"kvlab: without.yaml: {what}\n")


def test_ab_names_no_arms_and_makes_two_of_a_toggle(folder: Path, trial: FakeTrial, kvlab) -> None:
    (folder / "without.yaml").write_text(CAMPAIGN, encoding="utf-8")
    said = kvlab("ab", "without.yaml")
    assert said.code == 2
    assert said.err == "kvlab: without.yaml: has no arms to name; --toggle KEY=A,B makes two\n"
    assert kvlab("ab", "without.yaml", "--toggle", "graph=true,false", "--json").code == 0
    assert [name for name, _, _ in trial.asked] == ["graph=true", "graph=false"]


def test_doctor_and_the_catalog_read_it(folder: Path, kvlab) -> None:
    (folder / "without.yaml").write_text(CAMPAIGN, encoding="utf-8")
    assert kvlab("scenario", "check", "without.yaml").err == "without.yaml: ok\n"
    said = kvlab("doctor", "without.yaml", "--geometry", "--json")
    engines = [entry["engine"] for entry in said.json["geometry"]]
    assert engines == ["every toggle bad", "every toggle good"]

"""`kvlab sweep`: a run whose arms are levels, with the bracket in its table and its JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.store import open_results
from tests.lab.commands.conftest import FakeTrial, Said

pytestmark = pytest.mark.usefixtures("folder")
LADDER = ("sweep", "good.yaml", "--toggle", "concurrency=1,4,16,60", "--sessions", "20")


@pytest.fixture
def turning(drawn: FakeTrial) -> FakeTrial:
    """Corrupt from 16 at a time on."""
    drawn.corrupt = {"concurrency=16": 3, "concurrency=60": 11}
    return drawn


def test_the_json_document_has_the_bracket_beside_the_arms(turning: FakeTrial, kvlab) -> None:
    said: Said = kvlab(*LADDER, "--json")
    assert said.code == 0 and said.err == ""
    assert said.json["sweep"] == {
        "toggle": "concurrency",
        "levels": [1, 4, 16, 60],
        "clean_below": 4,
        "bad_above": 16,
        "monotone": True,
    }
    assert [arm["sessions_corrupt"] for arm in said.json["arms"]] == [0, 0, 3, 11]
    assert turning.asked[0] == ("concurrency=1", 20, 0)


def test_the_table_and_the_report_say_between_which_levels_it_turns(
    turning: FakeTrial, kvlab, folder: Path
) -> None:
    said = kvlab(*LADDER, "--out", "o")
    turns = "concurrency turns between 4 (clean: 0 of 20, below 16.1 %) and 16 (corrupt: 3 of 20)"
    assert turns in " ".join(said.out.split())
    assert turns in (folder / "o" / "report.md").read_text(encoding="utf-8")
    assert (folder / "o" / "sweep.png").exists()


def test_a_sweep_can_be_typed_again_from_its_report(
    turning: FakeTrial, kvlab, folder: Path
) -> None:
    kvlab(*LADDER, "--out", "o")
    again = " ".join(["kvlab", *LADDER])
    assert f"\n{again}\n" in (folder / "o" / "report.md").read_text(encoding="utf-8")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
    assert run.arms == ("concurrency=1", "concurrency=4", "concurrency=16", "concurrency=60")


def test_a_script_can_fail_on_a_level(turning: FakeTrial, kvlab) -> None:
    assert kvlab(*LADDER, "--fail-on", "corrupt").code == 1
    assert kvlab("sweep", "good.yaml", "--toggle", "concurrency=1,4,8").code == 0


def test_without_a_ladder_nothing_is_run(turning: FakeTrial, kvlab) -> None:
    said = kvlab("sweep", "good.yaml")
    assert said.code == 2
    assert said.err.startswith("kvlab: good.yaml: has no `sweep`; --toggle KEY=V1,V2")
    assert turning.asked == []

"""`runs`, `show`, `report`, `judge`: what is stored can be looked at and judged again."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import TargetError
from lab.store import open_results
from tests.lab.commands.conftest import FakeTrial
from tests.lab.tiers import row, tiered

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def run(trial: FakeTrial, kvlab) -> str:
    """The id of one stored run."""
    return str(kvlab("run", "good.yaml", "--json", "--sessions", "10").json["run"])


def test_runs_lists_the_newest_first(run: str, kvlab) -> None:
    later = kvlab("run", "good.yaml", "--json", "--sessions", "5").json["run"]
    listed = kvlab("runs", "--json").json
    assert [one["run"] for one in listed] == [later, run]
    assert listed[1]["verdicts"] == ["corrupt", "clean", "clean"]
    assert run in kvlab("runs").out


def test_judging_again_concludes_the_same(run: str, kvlab) -> None:
    first = kvlab("report", "--json").json
    again = kvlab("judge", run, "--json").json
    assert again == first
    assert kvlab("judge", run, "--fail-on", "corrupt").code == 1


def test_report_writes_the_figures_again(run: str, drawn, kvlab, folder: Path) -> None:
    said = kvlab("report", run[-4:], "--out", "again")
    assert said.code == 0 and (folder / "again" / "rates.svg").exists()
    assert said.err == "report.html, report.md and figures are in again\n"


def test_show_prints_the_reply_that_went_wrong(run: str, kvlab) -> None:
    said = kvlab("show", run)
    assert said.code == 0 and "tool_cblls" in said.out and "session" in said.out


def test_show_of_one_arm_prints_its_counters(run: str, kvlab) -> None:
    said = kvlab("show", "--arm", "fp8, graph on")
    assert said.code == 0 and "graph_replays" in said.out


def test_show_as_json_holds_the_raw_text_and_what_failed(run: str, kvlab) -> None:
    failed = kvlab("show", "--json", "--limit", "1").json["failed"]
    assert len(failed) == 1 and failed[0]["findings"]
    assert "tool_cblls" in failed[0]["reply"]["raw_text"]


@pytest.fixture
def tiers(trial: FakeTrial, kvlab) -> str:
    """A stored run of which one arm copied between tiers, its host rows too small."""
    rows = [row("device", 16384), row("host", 8448, agrees=False)]
    trial.tiers["fp8, graph on"] = tiered("fp8, graph on", rows)
    return str(kvlab("run", "good.yaml", "--json", "--sessions", "5").json["run"])


def test_show_of_one_arm_prints_its_copy_paths_and_its_geometry(tiers: str, kvlab) -> None:
    said = kvlab("show", tiers, "--arm", "fp8, graph on")
    assert said.code == 0 and "token_granular" in said.out and "MISMATCH" in said.out
    assert "token_granular" not in kvlab("show", "--arm", "bf16, graph on").out


def test_show_as_json_holds_copy_paths_and_geometry_by_arm(tiers: str, kvlab) -> None:
    document = kvlab("show", "--json").json
    ran, never = document["paths"]
    assert (ran["arm"], ran["branch"], ran["rows"]) == ("fp8, graph on", "per_layer_mla", 340)
    assert (never["branch"], never["calls"], never["rows"]) == ("token_granular", 0, 0)
    assert [found["item_bytes"] for found in document["geometry"]] == [16384, 8448]
    other = kvlab("show", "--json", "--arm", "bf16, graph on").json
    assert (other["paths"], other["geometry"]) == ([], [])


def test_show_as_json_is_one_object_an_arm_with_all_that_it_left(tiers: str, kvlab) -> None:
    document = kvlab("show", "--json").json
    listed = kvlab("run", "good.yaml", "--json", "--sessions", "5").json
    assert [arm["name"] for arm in document["arms"]] == [arm["name"] for arm in listed["arms"]]
    arm = document["arms"][1]
    assert set(listed["arms"][1]) <= set(arm)
    assert arm["counters"]["graph_replays"] == 9 and arm["toggles"]["index_k"] == "fp8"
    assert len(arm["paths"]) == 2 and not [name for name in arm["counters"] if "path" in name]
    assert arm["mismatches"] and [found["agrees"] for found in arm["geometry"]] == [True, False]
    assert document["command"] == "kvlab run good.yaml --sessions 5"
    assert document["workload"]["kind"] == "tool_sessions" and document["build"]


def test_show_as_json_of_one_arm_holds_no_other(tiers: str, kvlab) -> None:
    document = kvlab("show", "--json", "--arm", "fp8, graph on").json
    assert [arm["name"] for arm in document["arms"]] == ["fp8, graph on"]
    assert document["verdicts"] == [document["arms"][0]["verdict"]]


def test_show_of_the_run_names_mismatches_and_its_origin(tiers: str, kvlab) -> None:
    said = kvlab("show", tiers)
    assert "MISMATCH: index_k: 8,448 bytes" in said.out
    assert "command: kvlab run good.yaml --sessions 5" in said.out
    assert "geometry: index_k: 8,448 bytes a row on the host" in kvlab("report").out


def test_show_as_json_of_a_run_that_nobody_judged_holds_what_was_seen(
    trial: FakeTrial, kvlab
) -> None:
    trial.raises["bf16, one at a time"] = KeyboardInterrupt()
    assert kvlab("run", "good.yaml", "--sessions", "5").code == 130
    arms = kvlab("show", "--json").json["arms"]
    assert len(arms) == 2 and {arm["verdict"] for arm in arms} == {None}
    assert arms[0]["counters"]["graph_replays"] == 9 and arms[0]["exposure"]["prefix_hits"] == 9


@pytest.mark.parametrize(
    ("ill", "told"),
    [
        (KeyboardInterrupt(), "Interrupted: 2 of 3 arms; "),
        (TargetError("the engine died"), "Failed: 2 of 3 arms; "),
    ],
    ids=["interrupted", "failed"],
)
def test_what_is_concluded_of_a_part_of_a_run_says_that_it_is_a_part(
    ill: BaseException, told: str, trial: FakeTrial, kvlab, folder: Path
) -> None:
    trial.raises["bf16, one at a time"] = ill
    assert kvlab("run", "good.yaml", "--sessions", "5").code in (3, 130)
    judged = kvlab("judge")
    assert judged.out.startswith(f'{told}"bf16, graph on" corrupts 3 of 5 sessions')
    assert kvlab("report", "--out", "o").out == judged.out
    assert f"\n\n{told}" in (folder / "o" / "report.md").read_text()
    assert told in kvlab("show").out
    document = kvlab("report", "--json").json
    assert document == kvlab("judge", "--json").json
    assert document["incomplete"] == told.lower().removesuffix("; ")


def test_a_run_of_which_no_arm_is_stored_says_how_it_ended(trial: FakeTrial, kvlab) -> None:
    trial.raises["bf16, graph on"] = KeyboardInterrupt()
    kvlab("run", "good.yaml")
    assert kvlab("judge").out.startswith("Interrupted: 0 of 3 arms; no arm finished.\n")


def test_rooms_of_a_run_of_which_no_arm_is_stored_are_told(trial: FakeTrial, kvlab) -> None:
    trial.raises["bf16, graph on"] = KeyboardInterrupt()
    kvlab("run", "good.yaml")
    said, document = kvlab("show", "--rooms"), kvlab("show", "--rooms", "--json").json
    told = f"run {document['run']} (interrupted): no arm is stored, so it has no rooms.\n"
    assert (said.code, said.out, document["arms"]) == (0, told, [])


def test_a_whole_run_says_nothing_of_it(run: str, kvlab) -> None:
    assert kvlab("judge", "--json").json["incomplete"] is None
    assert kvlab("judge").out.startswith('"bf16, graph on" corrupts')


def test_show_of_an_unknown_arm_is_told(run: str, kvlab) -> None:
    said = kvlab("show", "--arm", "fp8, grph on")
    assert said.code == 2 and "did you mean 'fp8, graph on'" in said.err


@pytest.mark.parametrize("command", ["runs", "show", "report", "judge"])
def test_a_missing_database_is_one_line(command: str, kvlab) -> None:
    said = kvlab(command, "--db", "none.duckdb")
    assert said.code == 2 and said.err.startswith("kvlab: none.duckdb: no such database")


@pytest.mark.parametrize("command", ["show", "report", "judge"])
def test_an_unknown_run_is_one_line(command: str, run: str, kvlab) -> None:
    said = kvlab(command, "2020")
    assert said.code == 2 and "no run '2020'" in said.err and said.err.count("\n") == 1


def test_what_is_no_database_is_one_line(kvlab, folder: Path) -> None:
    (folder / "text.duckdb").write_text("not a database at all")
    said = kvlab("runs", "--db", "text.duckdb")
    assert said.code == 2 and said.err.count("\n") == 1


def test_the_scenario_of_a_run_is_stored_as_it_was_patched(trial, kvlab, folder: Path) -> None:
    kvlab("run", "good.yaml", "--set", "engine.graph_max_bs=32", "--seed", "9")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (stored,) = results.runs()
    assert "graph_max_bs: 32" in stored.yaml and "seed: 9" in stored.yaml

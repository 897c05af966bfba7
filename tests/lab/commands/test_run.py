"""`kvlab run` and `ab`: stored before judged, one JSON document, useful exit codes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import judging
from lab.errors import TargetError
from lab.scenario.loader import parse_scenario
from lab.store import RunStatus, open_results
from tests.lab.commands.conftest import FakeTrial, Said

pytestmark = pytest.mark.usefixtures("folder")
ARMS = ["bf16, graph on", "fp8, graph on", "bf16, one at a time"]


def test_the_report_holds_the_command_as_it_was_typed(folder: Path, trial, kvlab) -> None:
    kvlab("run", "good.yaml", "--set", "engine.graph_max_bs=32", "--sessions", "5", "--out", "o")
    text = (folder / "o" / "report.md").read_text()
    assert "\nkvlab run good.yaml --set engine.graph_max_bs=32 --sessions 5\n" in text
    kvlab("ab", "good.yaml", "--toggle", "graph=true,false", "--seed", "3", "--out", "o")
    text = (folder / "o" / "report.md").read_text()
    assert "\nkvlab ab good.yaml --toggle graph=true,false --seed 3\n" in text


def test_a_run_prints_exactly_one_json_document(trial: FakeTrial, kvlab) -> None:
    said: Said = kvlab("run", "good.yaml", "--json", "--seed", "7", "--sessions", "20")
    assert said.code == 0 and said.err == ""
    assert said.json["scenario"] == "good" and said.json["seed"] == 7
    assert [arm["name"] for arm in said.json["arms"]] == ARMS
    assert [arm["verdict"] for arm in said.json["arms"]] == ["corrupt", "clean", "clean"]
    first = said.json["arms"][0]
    assert first["toggles"]["index_k"] == "bf16"
    assert (first["sessions_corrupt"], first["sessions"]) == (3, 20)
    assert trial.asked == [(ARMS[0], 20, 7), (ARMS[1], 20, 7), (ARMS[2], 12, 7)]
    assert [pair["b"] for pair in said.json["comparisons"]] == ARMS[1:]


def test_what_is_stored_is_what_ran(trial, kvlab, folder: Path) -> None:
    kvlab("run", "good.yaml", "--sessions", "5", "--seed", "7", "--set", "engine.radix=false")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
    again = parse_scenario(run.yaml, "stored")
    assert [again.sessions(arm) for arm in again.arms] == [n for _, n, _ in trial.asked] == [5] * 3
    assert (again.seed, again.engine["radix"]) == (7, False)


def test_a_run_shows_a_table_and_leaves_figures_and_a_report(drawn, kvlab, folder: Path) -> None:
    said = kvlab("run", "good.yaml")
    assert said.code == 0
    assert all(name in said.out for name in ("corrupt", "3 of 60"))
    assert said.err.startswith("report.html, report.md and figures are in results/")
    kept = sorted(path.name for path in (folder / "results").glob("*/*"))
    assert "report.md" in kept and "rates.png" in kept and "rates.svg" in kept


def test_a_corrupt_run_ends_with_the_command_that_explains_it(drawn, kvlab) -> None:
    def last(*more: str) -> str:
        return kvlab("run", "good.yaml", *more).err.splitlines()[-1]

    with_db = last("--db", "other/lab.duckdb")
    assert with_db.startswith("why a reply is wrong: kvlab explain ")
    assert with_db.endswith(" --db other/lab.duckdb") and "--db" not in last()


def test_a_run_whose_replies_are_right_offers_what_the_ledger_saw(
    trial, kvlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = judging.judge_run

    def only_seen(*given: Any) -> Any:
        verdict, findings = whole(*given)
        first = replace(verdict.arms[0], replies_corrupt=0, violations={"page_freed_twice": 3})
        return replace(verdict, arms=(first, *verdict.arms[1:])), findings

    monkeypatch.setattr(judging, "judge_run", only_seen)
    said = kvlab("run", "good.yaml").err
    assert "kvlab explain" not in said and " --arm 'bf16, graph on'\n" in said
    assert said.endswith("what that means: kvlab catalog page_freed_twice\n")


def test_a_clean_run_offers_no_explanation(drawn, trial, kvlab) -> None:
    trial.corrupt = {}
    assert "kvlab explain" not in kvlab("run", "good.yaml").err


def test_out_names_the_folder_of_the_figures(drawn, kvlab, folder: Path) -> None:
    kvlab("run", "good.yaml", "--out", "mine", "--db", "other/lab.duckdb")
    assert (folder / "mine" / "rates.png").exists()
    assert (folder / "other" / "lab.duckdb").exists()


@pytest.mark.parametrize("out", ["good.yaml", "good.yaml/deeper", "/proc/here"])
def test_a_folder_that_cannot_be_made_is_told_before_anything_runs(
    trial, kvlab, folder: Path, out: str
) -> None:
    said = kvlab("run", "good.yaml", "--out", out)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert said.err.startswith(f"kvlab: {out}: no folder for figures: ")
    assert trial.asked == []
    with open_results(folder / "results" / "lab.duckdb") as results:
        assert results.runs() == []


def test_a_report_that_cannot_be_written_is_one_line_and_the_run_is_kept(
    drawn, kvlab, folder: Path
) -> None:
    (folder / "mine" / "report.md").mkdir(parents=True)
    said = kvlab("run", "good.yaml", "--out", "mine")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "report.md: cannot be written" in said.err
    (folder / "mine" / "report.md").rmdir()
    (folder / "mine" / "rates.png").unlink()
    (folder / "mine" / "rates.png").mkdir()
    assert "kvlab: mine/rates.png: cannot be written: " in kvlab("report", "--out", "mine").err
    left = [path.name for path in (folder / "mine").iterdir() if path.name.startswith(".")]
    assert left == []
    with open_results(folder / "results" / "lab.duckdb") as results:
        assert [run.status for run in results.runs()] == [RunStatus.DONE]


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        (["corrupt"], 1),
        (["inconclusive"], 0),
        (["wedged,corrupt"], 1),
        (["wedged", "nondeterministic, parser_fault"], 0),
        (["wedged", "corrupt"], 1),
        (["clean"], 1),
    ],
)
def test_fail_on_makes_any_verdict_an_exit_code(trial, kvlab, kinds: list[str], code: int) -> None:
    asked = [part for kind in kinds for part in ("--fail-on", kind)]
    assert kvlab("run", "good.yaml", *asked).code == code


def test_what_is_no_verdict_is_refused_before_anything_runs(trial, kvlab) -> None:
    said = kvlab("run", "good.yaml", "--fail-on", "corrupt,dirty")
    assert (said.code, said.err.count("\n"), trial.asked) == (2, 1, [])
    assert "'dirty' is no verdict; accepted: corrupt, parser_fault, wedged" in said.err


def test_an_interrupted_run_keeps_the_arms_that_finished(trial, kvlab, folder: Path) -> None:
    trial.raises = {"fp8, graph on": KeyboardInterrupt()}
    said = kvlab("run", "good.yaml")
    assert said.code == 130
    assert said.err.startswith("kvlab: interrupted: 1 of 3 arms are stored as run ")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
    assert run.status == RunStatus.INTERRUPTED and run.arms == ("bf16, graph on",)
    judged = kvlab("judge", "--json")
    assert judged.code == 0 and [arm["verdict"] for arm in judged.json["arms"]] == ["corrupt"]


def test_a_target_that_dies_is_exit_3_and_keeps_what_finished(trial, kvlab, folder: Path) -> None:
    trial.raises = {"bf16, one at a time": TargetError("the engine died: out of memory")}
    said = kvlab("run", "good.yaml")
    assert (said.code, said.err) == (3, "kvlab: the engine died: out of memory\n")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
    assert run.status == RunStatus.FAILED and len(run.arms) == 2


def test_an_engine_that_died_half_way_is_stored_told_and_exit_3(trial, kvlab, folder: Path) -> None:
    trial.dies = {"fp8, graph on": "RuntimeError: CUDA error"}
    said = kvlab("run", "good.yaml")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
    told = "kvlab: arm 'fp8, graph on': the engine died: RuntimeError: CUDA error"
    assert (said.code, said.err) == (3, f"{told}; run {run.id} holds what finished\n")
    assert run.status == RunStatus.FAILED and run.arms == ("bf16, graph on", "fp8, graph on")
    assert not (folder / "results" / run.id).exists()


def test_a_run_is_stored_before_it_is_judged(trial, kvlab, folder: Path, monkeypatch) -> None:
    def broken_judge(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(judging, "judge_run", broken_judge)
    with pytest.raises(ZeroDivisionError):
        kvlab("run", "good.yaml")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
        assert [history.name for history in results.histories(run.id)] == ARMS


def test_an_old_run_is_judged_after_its_scenario_s_words_have_changed(
    trial, kvlab, folder: Path
) -> None:
    first = kvlab("run", "good.yaml", "--json").json
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
        text = run.yaml.replace("preset: reference", "preset: gone").replace("graph:", "old:")
        results.db.execute("UPDATE runs SET yaml = ?", [text])
    again = kvlab("judge", "--json")
    assert again.code == 0 and again.json["arms"] == first["arms"]


def test_nothing_is_written_where_the_scenario_is_wrong(trial, kvlab, folder: Path) -> None:
    said = kvlab("run", "good.yaml", "--set", "engine.index_k=bf61")
    assert said.code == 2 and said.out == "" and said.err.count("\n") == 1
    assert not (folder / "results").exists() and trial.asked == []


@pytest.mark.parametrize(
    "options",
    [
        ("--seed", "99999999999999999999"),
        ("--sessions", "1000000000"),
        ("--sessions", "0"),
        ("--set", "engine.pool_pages=1e20"),
        ("--set", "engine.pool_pages=2000000000"),
        ("--set", "engine.graph_max_bs=1e9"),
        ("--set", "engine.arrival_rate=1e-300"),
        ("--set", "workload.think_s=.inf"),
        ("--set", "seed=9223372036854775808"),
        ("--set", "seed=0x" + 5000 * "f"),
    ],
    ids=lambda options: " ".join(options)[:50],
)
def test_a_number_that_nothing_could_hold_is_one_line_and_no_run(
    trial, kvlab, folder: Path, options: tuple[str, str]
) -> None:
    said = kvlab("run", "good.yaml", *options)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert not (folder / "results").exists() and trial.asked == []


def test_sides_that_refuse_each_other_are_one_line_with_both_layouts_and_no_run(
    trial, kvlab, folder: Path
) -> None:
    said = kvlab("run", "peer_item_len_trusted", "--set", "build=[]")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "prefill's pages are 8,448 bytes (64 x 128 float8_e4m3fn, 64 x 1 float32)" in said.err
    assert "decode's 16,384 (64 x 128 bfloat16)" in said.err
    assert not (folder / "results").exists() and trial.asked == []


def test_ab_runs_two_named_arms(trial, kvlab) -> None:
    said = kvlab("ab", "good.yaml", "bf16, one at a time", "fp8, graph on", "--json")
    assert [arm["name"] for arm in said.json["arms"]] == ["bf16, one at a time", "fp8, graph on"]
    assert len(said.json["comparisons"]) == 1


def test_ab_makes_the_arms_of_a_toggle(trial, kvlab) -> None:
    said = kvlab("ab", "good.yaml", "--toggle", "graph=true,false", "--json", "--sessions", "5")
    assert [arm["toggles"]["graph"] for arm in said.json["arms"]] == [True, False]
    assert trial.asked == [("graph=true", 5, 0), ("graph=false", 5, 0)]


@pytest.mark.parametrize("command", [["run", "good.yaml"], ["ab", "good.yaml", "--toggle"]])
def test_settings_without_effect_are_noted_before_the_run(command, trial, folder, kvlab) -> None:
    argv = [*command, "index_k=bf16,fp8"] if command[0] == "ab" else command
    said = kvlab(*argv, "--set", "engine.host_ratio=3", "--sessions", "2", "--json")
    assert said.code == 0 and said.json["arms"]
    assert said.err.startswith("note: host_ratio has no effect: hicache is off\n")

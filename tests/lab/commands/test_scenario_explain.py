"""`kvlab scenario explain`: what a file would run, and how long that takes, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.store import open_results
from tests.lab.scenario.files import CAMPAIGN
from tests.lab.scenario.servers import served

if TYPE_CHECKING:
    from pathlib import Path

EXPLAIN = ("scenario", "explain")


def test_arms_are_told_with_the_settings_that_differ_and_what_is_expected(
    kvlab, folder: Path
) -> None:
    told = kvlab(*EXPLAIN, "good.yaml", "--json").json
    run = told["run"]
    assert [(it["name"], it["sessions"], it["expected"]) for it in run["arms"]] == [
        ("bf16, graph on", 60, "corrupt"),
        ("fp8, graph on", 60, "clean"),
        ("bf16, one at a time", 12, "clean"),
    ]
    assert run["arms"][1]["settings"] == {"index_k": "fp8", "concurrency": 60}
    assert run["alike"] == {"graph": True}
    assert (run["sessions"], run["boots"]) == (132, 0)
    shown = kvlab(*EXPLAIN, "good.yaml").out
    assert "kvlab run good.yaml: 132 sessions" in shown and "in every arm: graph=true" in shown
    assert not (folder / "results").exists()


def test_the_time_is_a_guess_until_something_of_it_is_stored(trial, kvlab, folder: Path) -> None:
    guess = kvlab(*EXPLAIN, "good.yaml", "--json").json
    assert guess["time_from"].startswith("a guess, ") and guess["run"]["minutes"] > 0
    kvlab("run", "good.yaml")
    with open_results(folder / "results" / "lab.duckdb") as results:
        seconds = results.seconds_a_session("good")
    told = kvlab(*EXPLAIN, "good.yaml", "--json").json
    assert told["time_from"] == "as what results/lab.duckdb holds of this scenario took"
    assert seconds is not None and told["seconds_a_session"] == seconds
    assert told["run"]["minutes"] == round(132 * seconds / 60, 2)


def test_a_launched_target_has_its_boots_and_no_time_that_nobody_knows(kvlab, folder: Path) -> None:
    file = str(served(folder))
    told = kvlab(*EXPLAIN, file, "--repeats", "2", "--json").json
    assert [it["boot"] for it in told["run"]["arms"]] == [1, 2, 1, 4, 3, 4]
    assert (told["run"]["boots"], told["run"]["minutes"]) == (4, None)
    shown = kvlab(*EXPLAIN, file).out
    assert "24 sessions on 2 boots, nobody knows how long" in " ".join(shown.split())


def test_a_campaign_has_its_toggles_its_budget_and_its_sweep(kvlab, folder: Path) -> None:
    (folder / "campaign.yaml").write_text(CAMPAIGN, encoding="utf-8")
    told = kvlab(*EXPLAIN, "campaign.yaml", "--json").json
    assert told["run"] is None
    assert told["bisect"]["toggles"]["graph"] == {"bad": True, "good": False}
    assert 0 < told["bisect"]["least"] < told["bisect"]["budget"] == 1500
    assert (told["sweep"]["toggle"], told["sweep"]["levels"]) == ("concurrency", [1, 2, 4, 8])
    assert told["sweep"]["sessions"] == 4 * 8
    shown = kvlab(*EXPLAIN, "campaign.yaml").out
    assert "kvlab sweep campaign.yaml" in shown and "kvlab bisect campaign.yaml" in shown


def test_options_are_as_the_run_would_take_them(kvlab, folder: Path) -> None:
    options = ("--sessions", "4", "--set", "engine.graph=false", "--repeats", "2")
    told = kvlab(*EXPLAIN, "good.yaml", *options, "--json").json
    assert len(told["run"]["arms"]) == 6 and told["run"]["sessions"] == 24
    assert told["run"]["alike"] == {"graph": False}

"""A whole bisection over a simulated world: stored, interrupted, taken up again, concluded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.bisecting.order import Order
from lab.bisecting.perform import Place, perform, planned
from lab.errors import Interrupted, TargetError, UserError
from lab.store import RunStatus, StoredBisection, open_results
from tests.lab.bisecting.simulated import CAMPAIGN, VIOLATION, Fake, write

SETS = ("workload.sessions=4", "bisect.p_min=0.1")
WHOLE = Order(sets=SETS)
ORDER = replace(WHOLE, no_confirm=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "results" / "lab.duckdb", None, 2, replay=False)


def bisect(file: Path, place: Place, fake: Fake, order: Order = ORDER) -> dict[str, Any]:
    return perform(file, order, place, None, fake)[0]


def stored(place: Place) -> StoredBisection:
    with open_results(place.db) as results:
        (found,) = results.bisections()
    return found


def interrupted(file: Path, place: Place, after: int, order: Order = ORDER) -> Fake:
    """A search that was stopped after so many trials."""
    fake = Fake(stops_after=after)
    with pytest.raises(Interrupted):
        bisect(file, place, fake, order)
    return fake


def test_the_document_says_what_was_found_and_what_was_asked(file: Path, place: Place) -> None:
    fake = Fake()
    told = bisect(file, place, fake, WHOLE)
    assert told["verdict"] == "CONFIRMED"
    assert told["culprits"] == [
        {"toggle": "index_k", "bad": "bf16", "good": "fp8"},
        {"toggle": "graph", "bad": True, "good": False},
    ]
    assert told["roles"]["index_k"] == told["roles"]["graph"] == "NECESSARY"
    assert told["sessions_spent"] == sum(probe["sessions"] for probe in told["probes"])
    assert sum(len(probe["trials"]) for probe in told["probes"]) == len(fake.ran)
    first = told["probes"][0]
    every = {"index_k": "bf16", "graph": True, "overlap": True, "concurrency": 8}
    assert (first["phase"], first["toggles"]) == ("reproduce", every)
    control = next(probe for probe in told["probes"] if probe["phase"] == "control")
    assert (control["toggles"], control["corrupt"]) == ({}, 0)


def test_evidence_is_that_of_the_culprit_arms(file: Path, place: Place) -> None:
    told = bisect(file, place, Fake())
    culprit = [it for it in told["probes"] if {"index_k", "graph"} <= it["toggles"].keys()]
    assert told["evidence"] == {VIOLATION: 4 * sum(it["corrupt"] for it in culprit)}
    assert told["evidence_cleared"] == {}
    trials = sum(len(it["trials"]) for it in culprit)
    assert told["exposure"]["culprit"]["padded_rows"] == 9 * trials
    assert told["exposure"]["cleared"]["padded_rows"] > 0


def test_what_was_concluded_is_stored_and_written(file: Path, place: Place) -> None:
    told, folder = perform(file, ORDER, place, None, Fake())
    assert folder == place.db.parent / told["bisection"]
    assert json.loads((folder / "bisection.json").read_text(encoding="utf-8")) == told
    found = stored(place)
    assert (found.status, found.verdict) == (RunStatus.DONE, told)
    assert (found.sessions, found.trials) == (told["sessions_spent"], found.sessions // 4)
    with open_results(place.db) as results:
        probes = results.probes(found.id)
    assert [probe.phase.value for probe in probes] == [it["phase"] for it in told["probes"]]


def test_equal_orders_are_equal_bisections(file: Path, place: Place) -> None:
    one, other = (bisect(file, place, Fake()) for _ in range(2))
    assert one | {"bisection": ""} == other | {"bisection": ""}


@pytest.mark.parametrize(
    ("after", "order"), [(0, ORDER), (9, ORDER), (60, WHOLE)], ids=["none", "some", "confirming"]
)
def test_after_an_interruption_it_asks_the_same_and_pays_only_for_what_is_missing(
    file: Path,
    tmp_path: Path,
    place: Place,
    after: int,
    order: Order,
    capsys: pytest.CaptureFixture[str],
) -> None:
    uninterrupted = Fake()
    whole = bisect(
        file, Place(tmp_path / "other" / "lab.duckdb", replay=False), uninterrupted, order
    )
    first = interrupted(file, place, after, order)
    assert (stored(place).status, stored(place).trials) == (RunStatus.INTERRUPTED, after)
    capsys.readouterr()
    then = Fake()
    told, _ = perform(file, Order(), place, "last", then)
    same = {key: whole[key] for key in ("bisection", "where")}
    assert told | same == whole
    assert first.ran + then.ran == uninterrupted.ran
    said = capsys.readouterr().err
    assert f"{after} trials ({4 * after} sessions) are stored and not run again\n" in said
    assert (f"{after} of {len(uninterrupted.ran)} trials were stored\n" in said) == (after > 0)
    with open_results(place.db) as results:
        assert len(results.probes(told["bisection"])) == len(whole["probes"])


def test_an_interruption_names_the_command_that_goes_on(file: Path, place: Place) -> None:
    with pytest.raises(Interrupted) as caught:
        bisect(file, place, Fake(stops_after=7))
    assert caught.value.exit_code == 130
    again = f"`kvlab bisect {file} --resume {stored(place).id} --db {place.db}` goes on"
    assert str(caught.value) == f"interrupted: 7 trials (28 sessions) are stored; {again}"


def test_a_target_that_died_can_be_gone_on_with(file: Path, place: Place) -> None:
    with pytest.raises(
        TargetError, match=r"it died; `kvlab bisect .* --resume .*` goes on"
    ) as gone:
        bisect(file, place, Fake(stops_after=12, raises=TargetError("it died")))
    assert gone.value.exit_code == 3
    assert stored(place).status is RunStatus.FAILED
    told, _ = perform(None, Order(), place, stored(place).id[-4:], Fake())
    assert (told["verdict"], stored(place).status) == ("SUSPECT", RunStatus.DONE)


def test_one_that_is_done_is_concluded_again_and_runs_nothing(
    file: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    told = bisect(file, place, Fake())
    capsys.readouterr()
    fake = Fake()
    assert perform(None, Order(), place, "last", fake)[0] == told
    assert fake.ran == []
    assert "is done; this is what it concluded" in capsys.readouterr().err


def test_a_stored_order_is_what_goes_on(file: Path, place: Place) -> None:
    order = replace(ORDER, method="ddmin", unit="boot", fix=("overlap",), seed=5)
    first = interrupted(file, place, 4, order)
    fake = Fake()
    told, _ = perform(file, Order(), place, "last", fake)
    assert (told["method"], told["unit"], told["seed"]) == ("ddmin", "boot", 5)
    assert told["verdict"] == "SUSPECT"
    assert [it["toggle"] for it in told["toggles"]] == ["index_k", "graph", "concurrency"]
    assert {(config, index) for config, index in fake.ran}.isdisjoint(first.ran)


def test_arguments_beside_resume_are_refused(file: Path, place: Place) -> None:
    interrupted(file, place, 1)
    order = Order(budget=9, fix=("graph",), sets=("seed=1",), no_confirm=True)
    with pytest.raises(UserError, match="stored; leave out --fix, --no-confirm, --set"):
        perform(file, order, place, "last", Fake())
    with pytest.raises(UserError, match="needs no --plan"):
        planned(file, Order(), place, "last")


def test_a_scenario_that_changed_since_is_noted_and_the_stored_one_runs(
    file: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(file, place, 1)
    write(file.parent, CAMPAIGN.replace("  overlap: {bad: true, good: false}\n", ""))
    told, _ = perform(file, Order(), place, "last", Fake())
    assert "overlap" in told["probes"][0]["toggles"]
    assert f"note: {file} has changed since; the scenario as it was stored" in str(
        capsys.readouterr().err
    )


def test_a_file_that_is_gone_or_another_is_told(
    file: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(file, place, 1)
    write(file.parent, CAMPAIGN.replace("name: campaign", "name: other"))
    with pytest.raises(UserError, match=r"is other; bisection .* is of campaign"):
        perform(file, Order(), place, "last", Fake())
    file.unlink()
    assert perform(None, Order(), place, "last", Fake())[0]["verdict"] == "SUSPECT"
    told = capsys.readouterr().err
    assert "campaign.yaml: no such file" in told
    assert "the scenario as it was stored is what runs" in told


def test_versions_that_differ_are_noted(
    file: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(file, place, 1)
    with open_results(place.db) as results:
        results.db.execute('UPDATE bisections SET versions = \'{"kvlab": "0.0.1"}\'')
    perform(file, Order(), place, "last", Fake())
    said = capsys.readouterr().err
    assert "note: kvlab was 0.0.1 and is " in said and "stored trials count as if" in said


def test_what_is_sought_and_how_many_processes_reach_the_world(file: Path, place: Place) -> None:
    fake = Fake()
    told = bisect(file, place, fake, replace(ORDER, outcome="wedged"))
    assert fake.asked == [("campaign", "wedged", 2)]
    assert told["outcome"] == "wedged"


def test_a_world_without_culprits_is_not_reproduced(file: Path, place: Place) -> None:
    told = bisect(file, place, Fake(culprits=frozenset()))
    assert (told["verdict"], told["culprits"]) == ("NOT-REPRODUCED", [])
    assert (told["rate_bad"], told["rate_good"], told["threshold"]) == (0.0, None, None)

"""Which failing trial is left to whoever debugs it, and that a bisection says where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.bisecting import perform as performing
from lab.bisecting.failing import failing
from lab.bisecting.order import Order
from lab.bisecting.perform import Place, perform
from lab.errors import Interrupted, TargetError
from lab.report.bisection_next import what_next
from lab.scenario.loader import load_scenario
from lab.store import open_results
from lab.trial import run_arm
from tests.lab.bisecting.simulated import Fake, write
from tests.lab.bisections import bisected

SMALLEST = """
name: halved
build: [index_k_under_allocated]
workload: {kind: tool_sessions, preset: small, sessions: 2, turns: 1, think_s: 0.5}
engine: {concurrency: 4}
toggles:
  index_k: {bad: bf16, good: fp8}
bisect: {p_min: 0.6}
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
    fake = Fake(culprits=frozenset({"index_k"}), p1=1.0)  # as the engine is, which replays
    told, folder = perform(file, Order(no_confirm=True), place, None, fake)
    assert (told["verdict"], [it["toggle"] for it in told["culprits"]]) == ("SUSPECT", ["index_k"])
    made = told["replay"]
    assert made["scenario"] == str(folder / "replay.yaml")
    again = load_scenario(folder / "replay.yaml")
    history = run_arm(again, again.arms[0], again.seed)
    assert history.history_digest == made["history_digest"]
    assert len(made["sessions"]) < made["sessions_planned"] == 2
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


FAST = Order(sets=("workload.sessions=4", "bisect.p_min=0.1"), no_confirm=True)


@pytest.mark.parametrize(
    "stop", [KeyboardInterrupt(), Interrupted("interrupted: 0 of 1 arms are stored as run x")]
)
def test_an_interrupted_replay_loses_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    told: list[dict[str, Any]] = []
    found = replaying(tmp_path, monkeypatch, stop)
    with pytest.raises(Interrupted) as caught:
        found(lambda document, folder: told.append(document))
    (document,) = told
    ident = document["bisection"]
    shows = f"`kvlab report {ident} --db {tmp_path / 'lab.duckdb'}` shows it"
    assert str(caught.value) == f"interrupted: the verdict is stored; {shows}"
    assert json.loads((tmp_path / ident / "bisection.json").read_text("utf-8")) == document
    with open_results(tmp_path / "lab.duckdb") as results:
        assert results.bisection(ident).verdict == document


def test_a_replay_that_fails_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document, _ = replaying(tmp_path, monkeypatch, TargetError("it died"))(lambda *_: None)
    assert (document["verdict"], document["replay"]) == ("SUSPECT", None)
    assert "note: no failing trial is left: it died\n" in capsys.readouterr().err


def test_one_that_is_done_is_replayed_only_where_that_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(performing, "replayed", lambda _, done, folder: asked.append(done.id))
    place = Place(tmp_path / "lab.duckdb", None, 1, replay=False)
    perform(write(tmp_path), FAST, place, None, Fake())
    perform(None, Order(), replace(place, replay=True), "last", Fake())
    assert asked == []
    done, _ = perform(write(tmp_path), FAST, replace(place, replay=True), None, Fake())
    perform(None, Order(), replace(place, replay=True), "last", Fake())
    assert asked == [done["bisection"]] * 2


def test_a_trial_that_ended_otherwise_than_sought_is_none_to_leave() -> None:
    done = bisected()
    found = failing(done)
    assert found is not None
    odd = [
        replace(probe, outcome=tuple(replace(it, verdict="wedged") for it in probe.outcome))
        for probe in done.notebook.probes
    ]
    done.notebook.probes[:] = odd
    assert failing(done) is None


def test_a_trial_with_a_broken_invariant_is_corrupt_whichever_of_both_was_sought() -> None:
    done = bisected()
    seen = [
        replace(probe, outcome=tuple(replace(it, verdict="corrupt") for it in probe.outcome))
        for probe in done.notebook.probes
    ]
    done.notebook.probes[:] = seen
    assert failing(replace(done, outcome="violated")) == failing(done) is not None


def replaying(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> Callable[[Any], Any]:
    """A bisection whose replay ends so, given who is told of its verdict."""

    def stopped(*_: object) -> None:
        raise stop

    monkeypatch.setattr(performing, "replayed", stopped)
    place = Place(folder / "lab.duckdb", None, 1)
    return lambda told: perform(write(folder), FAST, place, None, Fake(), told)

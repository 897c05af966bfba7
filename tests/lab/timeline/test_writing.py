"""The trace of a stored run, of several arms or of one, as a file that opens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.errors import StoreError, UserError
from lab.scenario.loader import parse_scenario
from lab.store import Results, open_results
from lab.timeline import write_timeline, writing
from lab.trial import run_arm
from tests.lab.timeline.arms import answer, arm, on, opened, step
from tests.lab.timeline.check import names, problems

PAIR = """
name: pair
workload: {kind: tool_sessions, preset: small, sessions: 1, turns: 1, max_tokens: 40}
engine: {pd: true}
arms: [{name: one}]
"""


@pytest.fixture
def results(tmp_path: Path):
    with open_results(tmp_path / "lab.duckdb") as opened_results:
        yield opened_results


def stored(results: Results, *names_of_arms: str) -> str:
    """A run of made-up arms."""
    run = results.begin_run("made up", "name: made up", 7, {})
    for name in names_of_arms:
        made = arm(step(1, 10, 20), replies=[answer(0, 0, 1, 5, 20, 30)])
        results.save_arm(run, replace(made, name=name, sessions=1))
    return run


def test_a_whole_pair_is_drawn_without_a_fault(results: Results) -> None:
    scenario = parse_scenario(PAIR, "pair.yaml")
    run = results.begin_run("pair", PAIR, 0, {})
    results.save_arm(run, run_arm(scenario, scenario.arms[0], 0))
    written = write_timeline(results, run, None, None, None)
    assert written.path == results.path.parent / run / "timeline.json"
    assert problems(written.path.read_text()) == []
    events = opened(written.path)
    assert [*names(events, "process").values()] == ["prefill", "decode", "sessions"]
    assert on(events, "prefill", "compute") and on(events, "decode", "compute")
    assert on(events, "prefill", "wire 0:1")
    turns = [it for it in on(events, "sessions", "session 0") if it["name"].startswith("turn")]
    assert len(turns) == written.arms[0].turns == 1


def test_several_arms_have_processes_of_their_own(results: Results, tmp_path: Path) -> None:
    written = write_timeline(results, stored(results, "a", "b"), None, None, tmp_path / "x" / "t")
    assert [*names(opened(written.path), "process").values()] == [
        *("a: engine", "a: sessions", "b: engine", "b: sessions")
    ]
    about = json.loads(written.path.read_text())["otherData"]
    assert about["scenario"] == "made up" and about["digest of b"].startswith("sha256:")


def test_one_arm_of_several_needs_no_name_on_its_processes(results: Results) -> None:
    written = write_timeline(results, stored(results, "a", "b"), "b", 0, None)
    assert [*names(opened(written.path), "process").values()] == ["engine", "sessions"]
    assert [it.name for it in written.arms] == ["b"]


@pytest.mark.parametrize(
    ("arm_name", "session", "says"),
    [("c", None, "no such arm; accepted: 'a', 'b'"), (None, 4, "--session 4: no such session")],
)
def test_what_there_is_not_is_one_line(
    results: Results, arm_name: str | None, session: int | None, says: str
) -> None:
    run = stored(results, "a", "b")
    with pytest.raises(StoreError, match=says):
        write_timeline(results, run, arm_name, session, None)


def test_a_trace_that_fails_half_way_leaves_what_was_there(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(scene: object) -> int:
        raise KeyboardInterrupt

    path = tmp_path / "t.json"
    path.write_text("older", encoding="utf-8")
    monkeypatch.setattr(writing, "draw_sessions", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_timeline(results, stored(results, "a"), None, None, path)
    assert [*tmp_path.glob("t.json*")] == [path] and path.read_text(encoding="utf-8") == "older"


def test_a_file_that_cannot_be_written_is_one_line(results: Results, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        write_timeline(results, stored(results, "a"), None, None, tmp_path)

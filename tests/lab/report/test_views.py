"""What `runs` and `show` print of a stored run."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from lab.report.views import arm_view, run_view, runs_table
from lab.store import RunStatus, StoredRun
from tests.lab.report.test_table import cells, printed
from tests.lab.samples import ARMS, history, reply, sample_run

STORED = StoredRun(
    id="20261129T194500-ab12",
    scenario="padded_scatter",
    yaml="",
    seed=7,
    versions={"torch": "2.13.0"},
    status=RunStatus.DONE,
    started_at=datetime(2026, 11, 29, 19, 45),
    wall_s=42.75,
    virtual_s=812.4,
    arms=tuple(ARMS),
    verdicts=("corrupt", "clean", "clean"),
)


def test_runs_are_listed_the_newest_first() -> None:
    killed = replace(
        STORED, id="20261129T200000-ffff", status=RunStatus.INTERRUPTED, verdicts=(), wall_s=None
    )
    text = printed(runs_table([STORED, killed]))
    assert text.index(killed.id) < text.index(STORED.id)
    assert cells(text, STORED.id) == [
        *("padded_scatter", "7", "done", "3", "42.8", "clean 2, corrupt 1")
    ]
    assert cells(text, killed.id)[2:] == ["interrupted", "3", "–", "not judged"]
    assert "No run yet" in printed(runs_table([]))


def test_a_run_shows_its_outcome_classes_by_arm() -> None:
    text = printed(run_view(STORED, sample_run()[0]))
    assert "20261129T194500-ab12: padded_scatter, seed 7, done" in text
    assert "began 2026-11-29 19:45:00 UTC; torch 2.13.0" in text
    assert cells(text, "leaked_markup") == ["10", "0", "0"]
    assert cells(text, "corrupt replies") == ["10", "0", "0"]


def test_a_run_that_was_not_judged_shows_its_arms() -> None:
    text = printed(run_view(STORED, None))
    assert 'Not judged. Arms stored: "bf16, graph on", "fp8, graph on", "bf16, graph off".' in text


def test_an_arm_shows_settings_endings_and_every_counter() -> None:
    arm = history("one", corrupt=2)
    arm.replies[0] = reply(0, 0, status="timeout")
    arm.stalled = "nothing left to wait for"
    text = printed(arm_view(arm))
    assert cells(text, "graph") == ["true"]
    assert cells(text, "timeout") == ["1"]
    assert cells(text, "ok, tool_calls") == ["239"]
    assert cells(text, "violation:padded_row_wrote_owned_slot") == ["31"]
    assert "wedged: nothing left to wait for" in text

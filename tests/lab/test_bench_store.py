"""`bench store`: what it makes up is what is stored, and every question is asked of it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from lab.bench_store import measure, table
from lab.bench_store_load import ARMS, TURNS, findings, runs, verdict
from lab.bench_store_questions import ASKED, VIEWS
from lab.errors import UserError
from lab.store import open_results
from lab.store import views as stored


def test_runs_hold_as_many_replies_as_were_asked_for() -> None:
    assert sum(run.replies for run in runs(100_000)) == 100_000
    assert max(run.sessions for run in runs(100_000)) == 2500
    (small,) = runs(64)
    assert sum(len(arm.replies) for arm in small.arms()) == 64


def test_a_run_follows_from_its_number_alone() -> None:
    first, again = (next(iter(runs(160))) for _ in range(2))
    assert list(first.arms()) == list(again.arms())


def test_what_is_made_up_goes_in_and_comes_back(tmp_path: Path) -> None:
    (made,) = runs(160)
    arms = list(made.arms())
    assert [arm.name for arm in arms] == list(ARMS)
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("made_up", "", 0, {})
        for arm in arms:
            results.save_arm(run, arm)
        assert results.histories(run) == arms


def test_only_the_first_arm_is_corrupt_and_its_verdict_says_how_often() -> None:
    *_, campaign = runs(32_000 // 2 + 40_000)
    arms = list(campaign.arms())
    told = [verdict(arm, findings(arm)) for arm in arms]
    assert [arm.verdict for arm in told] == ["corrupt", "clean", "clean", "clean"]
    assert 0 < told[0].replies_corrupt < 0.05 * len(arms[0].replies)
    assert all(arm.unfinished for arm in told)


def test_every_question_is_asked_and_the_file_is_deleted(tmp_path: Path) -> None:
    ticks: list[tuple[int, int]] = []
    document = measure(640, tmp_path, lambda done, due: ticks.append((done, due)))
    assert ticks[-1] == (640, 640)
    rows = document["rows"]
    assert (rows["replies"], rows["turns"], rows["events"]) == (640, 640, 640 + 640 // TURNS)
    asked = {it["question"] for it in document["questions"]}
    assert asked == {*ASKED, *VIEWS, "opening"}
    assert list(tmp_path.iterdir()) == []
    console = Console(width=100, file=StringIO())
    console.print(table(document))
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "640 replies" in said and "replies a second" in said
    assert max(map(len, said.splitlines())) <= 100


def test_every_view_is_asked_for_something() -> None:
    for view in stored.VIEWS:
        assert any(f"FROM {view.name}" in sql for sql in VIEWS.values()), view.name


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--dir .*: No such file or directory"):
        measure(640, tmp_path / "none", lambda done, due: None)


def test_a_disk_without_the_room_is_told_before_anything_is_stored(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="GiB are free; --dir names another"):
        measure(10**15, tmp_path, lambda done, due: None)
    assert list(tmp_path.iterdir()) == []

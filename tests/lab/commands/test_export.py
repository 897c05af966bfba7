"""`kvlab export`: every view a file, which other tools read, and none is overwritten unasked."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lab.store import DEFAULT_DB, open_results
from lab.store.views import VIEWS
from tests.lab.samples import findings, sample_run


@pytest.fixture
def runs(folder: Path) -> list[str]:
    """The ids of two stored runs."""
    verdict, arms = sample_run()
    made = []
    with open_results(DEFAULT_DB) as results:
        for seed in (7, 8):
            made.append(results.begin_run("padded_scatter", "name: padded_scatter", seed, {}))
            for arm in arms:
                results.save_arm(made[-1], arm)
            found = {arm.name: findings(arm) for arm in arms}
            results.save_verdict(made[-1], verdict, found)
    return made


def counted(file: Path, what: str = "count(*)") -> object:
    """A count over a file, by DuckDB."""
    with duckdb.connect() as db:
        (row,) = db.execute(f"SELECT {what} FROM '{file}'").fetchall()
    return row[0]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_every_view_is_a_file_with_every_row(kvlab, runs: list[str], form: str) -> None:
    said = kvlab("export", "--format", form, "--out", "there", "--json").json
    assert [it["view"] for it in said["files"]] == [view.name for view in VIEWS]
    rows = {it["view"]: it["rows"] for it in said["files"]}
    assert (rows["runs"], rows["arms"], rows["replies"]) == (2, 6, 2 * 3 * 240)
    for it in said["files"]:
        assert counted(Path(it["file"])) == it["rows"]
    assert sorted(path.suffix for path in Path("there").iterdir()) == [f".{form}"] * len(VIEWS)


def test_a_run_alone_is_exported_by_part_of_its_id(kvlab, runs: list[str]) -> None:
    assert kvlab("export", "last", "--out", "there").code == 0
    assert counted(Path("there/replies.parquet")) == 720
    assert counted(Path("there/replies.parquet"), "any_value(run)") == runs[-1]


def test_nothing_is_overwritten_unless_forced(kvlab, runs: list[str]) -> None:
    assert kvlab("export", runs[0], "--out", "there").code == 0
    said = kvlab("export", "--out", "there")
    assert said.code == 2 and said.err.count("\n") == 1
    assert "runs.parquet and 14 more would be overwritten; --force does that" in said.err
    assert counted(Path("there/runs.parquet")) == 1
    assert kvlab("export", "--out", "there", "--force").code == 0
    assert counted(Path("there/runs.parquet")) == 2


def test_an_unknown_run_writes_nothing(kvlab, runs: list[str]) -> None:
    said = kvlab("export", "nope", "--out", "there")
    assert said.code == 2 and "no run 'nope'" in said.err
    assert list(Path("there").iterdir()) == []


def test_a_folder_that_is_a_file_is_one_line(kvlab, runs: list[str]) -> None:
    Path("there").write_text("")
    said = kvlab("export", "--out", "there")
    assert said.code == 2 and "no folder for the files" in said.err

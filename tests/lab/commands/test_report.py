"""`kvlab report`: a page a run, several runs at once, markdown for an issue tracker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.commands.conftest import FakeTrial

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def runs(trial: FakeTrial, kvlab) -> list[str]:
    """Two stored runs, the older one first."""
    return [kvlab("run", "good.yaml", "--json", "--sessions", n).json["run"] for n in ("10", "5")]


def test_a_page_stands_beside_the_figures(runs: list[str], drawn, kvlab, folder: Path) -> None:
    assert kvlab("report", runs[0], "--out", "o").code == 0
    page = (folder / "o" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and runs[0] in page and "<svg" in page
    assert (folder / "o" / "rates.svg").exists() and (folder / "o" / "rates.png").exists()


def test_several_runs_have_a_folder_each(runs: list[str], kvlab, folder: Path) -> None:
    said = kvlab("report", *runs, "--out", "o")
    assert said.code == 0 and all(run in said.out for run in runs)
    assert all((folder / "o" / run / "report.html").exists() for run in runs)


def test_json_is_one_document_a_list_of_several(runs: list[str], kvlab) -> None:
    assert kvlab("report", runs[1], "--json").json["run"] == runs[1]
    assert [one["run"] for one in kvlab("report", *runs, "--json").json] == runs


def test_markdown_is_all_that_is_printed(runs: list[str], kvlab) -> None:
    said = kvlab("report", "--markdown")
    assert said.code == 0 and said.out.startswith("# ") and "## To repeat it" in said.out
    assert "## What was not tested" in said.out and runs[1] in said.err


def test_markdown_and_json_are_not_asked_for_at_once(runs: list[str], kvlab) -> None:
    said = kvlab("report", "--markdown", "--json")
    assert said.code == 2 and said.err == "kvlab: --markdown with --json: give one of them\n"


def test_nothing_is_written_where_one_of_several_is_not_known(
    runs: list[str], kvlab, folder: Path
) -> None:
    said = kvlab("report", runs[0], "nope", "--out", "o")
    assert said.code == 2 and "nope" in said.err and not (folder / "o").exists()


def test_a_page_that_cannot_be_written_is_one_line(runs: list[str], kvlab, folder: Path) -> None:
    (folder / "o" / "report.html").mkdir(parents=True)
    said = kvlab("report", runs[0], "--out", "o")
    assert said.code == 2 and "report.html: cannot be written" in said.err

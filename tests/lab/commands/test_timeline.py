"""`timeline`: a stored run as a trace beside its report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.commands.conftest import FakeTrial
from tests.lab.timeline.check import problems

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def run(trial: FakeTrial, kvlab) -> str:
    """The id of one stored run, whose engine told no spans."""
    return str(kvlab("run", "good.yaml", "--json", "--sessions", "3").json["run"])


def test_the_trace_lies_beside_the_report_and_its_path_is_said(run: str, kvlab) -> None:
    said = kvlab("timeline")
    path = Path("results") / run / "timeline.json"
    assert (said.code, problems(path.read_text())) == (0, [])
    assert str(path) in said.err and "ui.perfetto.dev" in said.err


def test_the_trace_of_a_session_leaves_the_whole_one_as_it_was(run: str, kvlab) -> None:
    folder = Path("results") / run
    kvlab("timeline")
    whole = (folder / "timeline.json").read_text()
    assert str(folder / "timeline-session-1.json") in kvlab("timeline", "--session", "1").err
    assert (folder / "timeline.json").read_text() == whole


def test_an_arm_without_spans_is_said_to_have_none(run: str, kvlab) -> None:
    said = kvlab("timeline", run, "--arm", "fp8, graph on")
    assert "fp8, graph on" in said.out and "stored without spans" in said.out


def test_as_json_it_is_one_document(run: str, kvlab) -> None:
    said = kvlab("timeline", "--json", "--out", "trace.json", "--session", "1")
    assert (said.json["file"], said.err) == ("trace.json", "")
    assert [it["turns"] for it in said.json["arms"]] == [1, 1, 1]


def test_an_arm_that_there_is_not_is_one_line(run: str, kvlab) -> None:
    said = kvlab("timeline", "--arm", "fp9, graph on")
    assert said.code == 2 and said.err.count("\n") == 1 and "did you mean" in said.err

"""`kvlab sql`: a question is answered as a table, JSON or CSV, and a wrong one with one line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from lab.store import DEFAULT_DB, open_results
from lab.store.views import VIEWS
from lab.versions import versions
from tests.lab.samples import findings, sample_run


@pytest.fixture(autouse=True)
def run(folder: Path) -> str:
    """The id of one stored run, in the database that is asked by default."""
    verdict, arms = sample_run()
    with open_results(DEFAULT_DB) as results:
        made = results.begin_run("padded_scatter", "name: padded_scatter", 7, versions())
        for arm in arms:
            results.save_arm(made, arm)
        results.save_verdict(made, verdict, {arm.name: findings(arm) for arm in arms})
        results.finish_run(made, "done")
    return made


def test_a_question_is_answered_with_a_table(kvlab) -> None:
    said = kvlab("sql", "SELECT arm, verdict, rate FROM arms ORDER BY place")
    assert said.code == 0 and said.err == ""
    for word in ("arm", "verdict", "bf16, graph on", "corrupt", "0.166667"):
        assert word in said.out


def test_json_is_one_object_a_row_and_knows_structure(kvlab, run: str) -> None:
    found = kvlab("sql", "SELECT run, started_at, versions FROM runs", "--json").json
    (row,) = found
    assert row["run"] == run and row["versions"]["duckdb"]
    assert row["started_at"].endswith("Z")


def test_csv_has_a_head_and_every_row(kvlab) -> None:
    said = kvlab("sql", "SELECT arm, session, turn FROM replies ORDER BY ALL", "--csv")
    head, *rows = csv.reader(io.StringIO(said.out))
    assert head == ["arm", "session", "turn"] and len(rows) == 3 * 60 * 4


def test_a_long_table_says_that_it_is_cut(kvlab) -> None:
    said = kvlab("sql", "SELECT range AS n FROM range(1000)")
    assert " 99 " in said.out and " 100 " not in said.out
    assert said.err == "the first 100 rows; --csv and --json print all\n"
    assert kvlab("sql", "SELECT 1 WHERE false").err == "no rows\n"


def test_no_row_of_a_long_answer_is_missing_in_json(kvlab) -> None:
    found = kvlab("sql", "SELECT range AS n FROM range(2500)", "--json").json
    assert [row["n"] for row in found] == list(range(2500))


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("SELECT * FROM replys", "Table with name replys does not exist; did you mean 'replies'?"),
        ("SELECT rat FROM arms", "did you mean 'rate'?"),
        ("SELECT a.rat FROM arms a", "did you mean 'rate'?"),
        ("SELECT * FROM nowhere_at_all", "`kvlab sql --views` lists what there is"),
        ("SELCT 1", 'syntax error at or near "SELCT"; `kvlab sql --views` lists what there is'),
        ("SELECT CAST('x' AS INTEGER)", "Could not convert string 'x'"),
        ("DROP TABLE runs", "one SELECT is taken"),
        ("", "what to ask?"),
    ],
)
def test_a_wrong_question_is_one_line_that_says_what_to_do(kvlab, question: str, told: str) -> None:
    said = kvlab("sql", question)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert told in said.err


def test_two_outputs_are_refused(kvlab) -> None:
    said = kvlab("sql", "SELECT 1", "--json", "--csv")
    assert said.code == 2 and "choose one" in said.err


def test_views_are_listed_with_their_columns(kvlab) -> None:
    said, told = kvlab("sql", "--views"), kvlab("sql", "--views", "--json").json
    assert [it["view"] for it in told] == [view.name for view in VIEWS]
    for view in VIEWS:
        assert f"{view.name}: " in said.out
    assert told[0]["columns"]["run"] == "the run's id"


def test_without_a_database_it_says_what_makes_one(kvlab) -> None:
    said = kvlab("sql", "SELECT 1", "--db", "none.duckdb")
    assert said.code == 2 and "`kvlab run` makes it" in said.err
    assert not Path("none.duckdb").exists()

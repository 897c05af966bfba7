"""The views: every column is explained, and says what the records say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.errors import StoreError, UserError
from lab.store import open_results
from lab.store.reading import ask, reading, rows, types
from lab.store.views import VIEWS
from tests.lab.samples import ARMS, VIOLATION, findings, sample_run


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run of three arms, the first with a server's boot."""
    path = tmp_path_factory.mktemp("views") / "lab.duckdb"
    verdict, arms = sample_run()
    arms[0].events.append((5, "server", {"url": "http://127.0.0.1:1", "boot": 2, "model": "m"}))
    with open_results(path) as results:
        run = results.begin_run("padded_scatter", "name: padded_scatter", 7, {"sources": "ab"})
        for arm in arms:
            results.save_arm(run, arm)
        results.save_verdict(run, verdict, {arm.name: findings(arm) for arm in arms})
        results.finish_run(run, "done")
    return path


@pytest.fixture
def asked(stored: Path) -> Iterator[object]:
    """Ask it something."""
    with reading(stored) as db:
        yield lambda question: list(rows(ask(db, question)))


def test_every_view_has_the_columns_that_it_explains(stored: Path) -> None:
    with reading(stored) as db:
        for view in VIEWS:
            told = types(ask(db, f"SELECT * FROM {view.name}"))
            assert list(told) == [column.name for column in view.columns]
            assert view.about and all(column.meaning for column in view.columns)


def test_names_of_views_and_of_their_columns_are_given_once() -> None:
    names = [view.name for view in VIEWS]
    assert len(names) == len(set(names))
    for view in VIEWS:
        columns = [column.name for column in view.columns]
        assert len(columns) == len(set(columns))


def test_an_arm_has_the_verdict_that_was_stored(asked) -> None:
    found = asked("SELECT arm, verdict, sessions, sessions_corrupt FROM arms ORDER BY place")
    wanted = [(arm, "corrupt" if k else "clean", 60, k) for arm, k in ARMS.items()]
    assert found == wanted


def test_a_session_is_corrupt_where_a_reply_of_it_is(asked) -> None:
    found = asked("SELECT session FROM sessions WHERE corrupt ORDER BY session")
    assert found == [(session,) for session in range(50, 60)]


def test_a_reply_has_its_times_in_seconds(asked) -> None:
    one = "WHERE arm = 'fp8, graph on' AND session = 3 AND turn = 1"
    ((ttft_s, latency_s, raw_text),) = asked(
        f"SELECT round(ttft_s, 6), round(latency_s, 6), raw_text FROM replies {one}"
    )
    assert (ttft_s, latency_s) == (0.03, 0.1)
    assert asked(f"SELECT expected_text FROM turns {one}") == [(raw_text,)]


def test_violations_and_exposure_are_apart(asked) -> None:
    assert asked("SELECT name, kind, n FROM violations") == [(VIOLATION, "violation", 31)]
    found = asked("SELECT DISTINCT name FROM exposure ORDER BY name")
    assert found == [("padded_rows",), ("prefix_hits",), ("retractions",)]


def test_a_boot_knows_its_arm_and_what_became_of_it(asked) -> None:
    found = asked("SELECT arm, boot, url, sessions, sessions_corrupt FROM boots")
    assert found == [("bf16, graph on", 2, "http://127.0.0.1:1", 60, 10)]


def test_two_readers_have_the_file_at_once(stored: Path) -> None:
    with reading(stored) as one:
        assert ask(one, "SELECT count(*) FROM arms").fetchall() == [(3,)]
    before = stored.read_bytes()
    with reading(stored) as one:
        ask(one, "SELECT count(*) FROM replies").fetchall()
    assert stored.read_bytes() == before


def test_a_run_whose_process_was_killed_is_interrupted_for_readers_too(tmp_path: Path) -> None:
    with open_results(tmp_path / "lab.duckdb") as results:
        results.begin_run("any", "", 0, {})
    with reading(tmp_path / "lab.duckdb") as db:
        assert ask(db, "SELECT status FROM runs").fetchall() == [("interrupted",)]


def test_a_reader_of_no_database_makes_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such database"), reading(tmp_path / "lab.duckdb"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "question",
    [
        "DELETE FROM store.main.runs",
        "CREATE TABLE mine (n INTEGER)",
        "SELECT 1; SELECT 2",
        "",
        "SET enable_external_access = true",
        "ATTACH 'other.duckdb'",
        "COPY (SELECT 1) TO 'out.csv'",
        "INSTALL httpfs",
    ],
)
def test_nothing_but_one_select_is_taken(stored: Path, question: str) -> None:
    with reading(stored) as db, pytest.raises(UserError, match="one SELECT is taken"):
        ask(db, question)


def test_a_select_reads_no_other_file(stored: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    with reading(stored) as db, pytest.raises(UserError, match="Permission Error"):
        ask(db, f"SELECT * FROM read_csv('{secret}')")

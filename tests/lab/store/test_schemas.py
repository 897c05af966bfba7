"""A file of every schema that there ever was opens, and says what it said.

The files in `schemas/` are dumps of what the code of each version stored of the same two arms.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lab.store import RunStatus, open_results
from lab.store.migrations import MIGRATIONS
from lab.store.reading import ask, reading
from lab.store.views import VIEWS
from tests.lab.samples import RIGHT, VIOLATION, WRONG, findings, history

FILES = sorted((Path(__file__).parent / "schemas").glob("schema_*.sql"))
ARMS = [
    history(name, corrupt=k, sessions=3, turns=2)
    for name, k in (("bf16, graph on", 1), ("fp8, graph on", 0))
]


def version(file: Path) -> int:
    """The schema that a dump is of."""
    return int(file.stem.removeprefix("schema_"))


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[int, Path]:
    """A database as a kvlab of then left it, and its version."""
    path = tmp_path / "lab.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute(request.param.read_text(encoding="utf-8"))
    return version(request.param), path


def test_every_schema_but_this_kvlab_s_own_has_a_dump() -> None:
    assert set(range(1, len(MIGRATIONS))) <= {version(file) for file in FILES}


def test_an_old_file_opens_and_gives_back_its_run(old: tuple[int, Path]) -> None:
    _, path = old
    with open_results(path) as results:
        run = results.resolve("last")
        stored = results.histories(run)
        assert results.run(run).status is RunStatus.DONE
        for arm, wanted in zip(stored, ARMS, strict=True):
            assert arm.name == wanted.name
            assert [(it.session, it.turn, it.raw_text) for it in arm.replies] == [
                (it.session, it.turn, it.raw_text) for it in wanted.replies
            ]
            assert {it.raw_text for it in arm.replies} <= {RIGHT, WRONG}
            assert all(it.tries == 1 and it.gaps_ms == {} for it in arm.replies)
        assert results.findings(run) == {arm.name: findings(arm) for arm in ARMS}


def test_an_old_file_s_verdict_is_what_it_was(old: tuple[int, Path]) -> None:
    number, path = old
    with open_results(path) as results:
        bad, good = results.verdict(results.resolve("last")).arms
    assert (bad.verdict, bad.sessions_corrupt, good.verdict) == ("corrupt", 1, "clean")
    assert bad.violations == {VIOLATION: 31}
    assert bad.faults == ({"no_progress": 2} if number == 4 else {})


def test_an_old_file_has_its_bisection_where_there_were_any(old: tuple[int, Path]) -> None:
    number, path = old
    with open_results(path) as results:
        found = results.bisections()
        assert [it.status for it in found] == [RunStatus.DONE] * (number >= 6)
        assert [len(results.probes(it.id)) for it in found] == [1] * (number >= 6)


def test_an_old_file_is_migrated_once_and_then_left_alone(old: tuple[int, Path]) -> None:
    _, path = old
    for _ in range(2):
        with open_results(path) as results:
            steps = results.db.execute("SELECT version FROM schema_version").fetchall()
    assert [step for (step,) in steps] == list(range(1, len(MIGRATIONS) + 1))


def test_an_old_file_answers_every_view(old: tuple[int, Path]) -> None:
    _, path = old
    with reading(path) as db:
        for view in VIEWS:
            ask(db, f"SELECT * FROM {view.name}").fetchall()
        assert ask(db, "SELECT arm, sessions_corrupt FROM arms ORDER BY place").fetchall() == [
            ("bf16, graph on", 1),
            ("fp8, graph on", 0),
        ]


def test_a_migrated_file_has_the_schema_of_a_new_one(old: tuple[int, Path], tmp_path: Path) -> None:
    _, path = old
    open_results(tmp_path / "new.duckdb").close()
    assert schema(path) == schema(tmp_path / "new.duckdb")


def schema(path: Path) -> list[tuple[str, str, str]]:
    """Every column with its type, after it was brought up to date."""
    with open_results(path) as results:
        found = results.db.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns()"
            " WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall()
    return [(str(table), str(column), str(kind)) for table, column, kind in found]

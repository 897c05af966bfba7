"""Files that cannot be opened are one clear line; a file that can is brought up to date."""

from __future__ import annotations

import json
import subprocess
import sys
from subprocess import PIPE
from typing import TYPE_CHECKING

import duckdb
import pytest

from lab.errors import StoreError
from lab.records import Asked
from lab.store import Results, connection, migrations, open_results
from lab.store.migrations import MIGRATIONS, Migration, migration

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from lab.store import open_results
with open_results(Path(sys.argv[1])):
    print("open", flush=True)
    sys.stdin.read()
"""


ASK = """
from lab.app import main
from lab.store import connection
connection.PATIENCE_S = 600.0
main()
"""
KNOWN = len(MIGRATIONS)


def numbered(number: int, step: Migration) -> Migration:
    """A step under the name that a number asks for."""
    step.__name__ = f"m{number:03d}_{step.__name__}"
    return step


def steps(results: Results) -> list[int]:
    """The numbers of the steps that a file has been through."""
    found = results.db.execute("SELECT version FROM schema_version").fetchall()
    return [version for (version,) in found]


def refusal(path: Path) -> str:
    """The message with which the store refuses a file: always one line that names it."""
    with pytest.raises(StoreError) as caught:
        open_results(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_the_folder_is_made(tmp_path: Path) -> None:
    open_results(tmp_path / "a" / "b" / "lab.duckdb").close()
    assert (tmp_path / "a" / "b" / "lab.duckdb").exists()


def test_a_reader_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such database; `kvlab run` makes it"):
        open_results(tmp_path / "lab.duckdb", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_database_held_for_too_long_by_another_process_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE_S", 0.0)
    path = tmp_path / "lab.duckdb"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        assert f"in use by another process (PID {other.pid})" in refusal(path)
        other.communicate()
    open_results(path).close()


def test_a_second_kvlab_waits_for_the_first_and_says_so_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    holding = [sys.executable, "-c", HOLD, str(path)]
    asking = [sys.executable, "-c", ASK, "runs", "--db", str(path), "--json"]
    with subprocess.Popen(holding, stdin=PIPE, stdout=PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "open\n"
        with subprocess.Popen(asking, stdout=PIPE, stderr=PIPE, text=True) as second:
            assert second.stderr is not None and second.stdout is not None
            said = second.stderr.readline()
            first.communicate()
            assert (json.loads(second.stdout.read()), second.stderr.read()) == ([], "")
    assert said == f"kvlab: {path}: waiting for another process (PID {first.pid})\n"
    assert second.returncode == 0


def test_of_a_kvlab_that_has_the_file_its_command_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE_S", 0.0)
    path, script = tmp_path / "lab.duckdb", tmp_path / "kvlab"
    script.write_text(HOLD.replace("argv[1]", "argv[-1]"))
    holding = [sys.executable, str(script), "run", "my file.yaml", "--db", str(path)]
    with subprocess.Popen(holding, stdin=PIPE, stdout=PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "open\n"
        said = refusal(path)
        first.communicate()
    assert f"in use by another process (PID {first.pid}: kvlab run 'my file.yaml' --db " in said


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database\n" * 1000)
    before = path.read_bytes()
    assert "not a DuckDB file" in refusal(path)
    assert path.read_bytes() == before


def test_somebody_elses_duckdb_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sales.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE sales (n INTEGER)")
    assert "kvlab did not make" in refusal(path)
    with duckdb.connect(str(path)) as db:
        assert db.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("sales",)]


def test_a_newer_kvlabs_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    with open_results(path) as results:
        results.db.execute("INSERT INTO schema_version VALUES (99)")
    assert "written by a newer kvlab (schema 99" in refusal(path)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot make its folder" in refusal(tmp_path / "file" / "lab.duckdb")
    assert "cannot be opened" in refusal(tmp_path)


def test_a_file_of_before_opens_and_nothing_is_known_of_what_it_did_not_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list(MIGRATIONS)
    monkeypatch.setattr(migrations, "MIGRATIONS", whole[:2])
    with duckdb.connect(str(tmp_path / "lab.duckdb")) as db:
        migrations.migrate(db, "lab.duckdb")
        db.execute("INSERT INTO runs VALUES ('r', 's', '', 0, '{}', 'done', now(), 1, 2)")
        db.execute("INSERT INTO arms VALUES ('r', 0, 'a', '{}', 3, 'd', 1, 2, NULL)")
        told = "3, 0, 3, 0, 0, 0, 0, 1, '{}', '{}', '{}', 'clean', NULL, '', '[]'"
        db.execute(f"INSERT INTO verdicts VALUES ('r', 0, now(), {told})")
    monkeypatch.setattr(migrations, "MIGRATIONS", whole)
    with open_results(tmp_path / "lab.duckdb") as results:
        assert results.run("r").asked == Asked()
        (arm,) = results.verdict("r").arms
        assert (arm.verdict, arm.caveat, arm.mismatches) == ("clean", "", ())


def test_migrations_run_once_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", list(MIGRATIONS))
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("any", "", 0, {})

    def note(db: duckdb.DuckDBPyConnection) -> None:
        db.execute("ALTER TABLE runs ADD COLUMN note TEXT DEFAULT 'none'")

    migration(numbered(KNOWN + 1, note))

    for _ in range(2):
        with open_results(tmp_path / "lab.duckdb") as results:
            assert steps(results) == list(range(1, KNOWN + 2))
            assert results.db.execute("SELECT id, note FROM runs").fetchall() == [(run, "none")]


def test_a_migration_that_fails_leaves_the_schema_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", list(MIGRATIONS))
    open_results(tmp_path / "lab.duckdb").close()

    def breaks(db: duckdb.DuckDBPyConnection) -> None:
        db.execute("CREATE TABLE half (n INTEGER)")
        raise RuntimeError("broken step")

    migration(numbered(KNOWN + 1, breaks))
    with pytest.raises(RuntimeError, match="broken step"):
        open_results(tmp_path / "lab.duckdb")
    migrations.MIGRATIONS.pop()
    with open_results(tmp_path / "lab.duckdb") as results:
        assert steps(results) == list(range(1, KNOWN + 1))
        names = {name for (name,) in results.db.execute("SHOW TABLES").fetchall()}
    assert "half" not in names


def test_a_migration_out_of_order_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", list(MIGRATIONS))

    def later(db: duckdb.DuckDBPyConnection) -> None:
        pass

    with pytest.raises(ValueError, match=f"must be named m{KNOWN + 1:03d}_"):
        migration(numbered(KNOWN + 3, later))

"""`kvlab explain`: a stored run's bad replies, in words and as documents."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from lab.app import answer
from lab.records import ArmHistory, Reply
from lab.running import judge_run
from lab.store import open_results
from tests.lab.explaining.histories import PADDING, arm, bad, read, violation
from tests.lab.replies import said

PLAIN = "<think>Say it.</think>\n\nIt is done."


def right(session: int) -> Reply:
    """A reply that no judge fails: it calls nothing, and was to call nothing."""
    return replace(said(PLAIN, expected=PLAIN), session=session, expected_call={})


def stored(tmp_path: Path, *arms: ArmHistory, judged: bool = True) -> str:
    """A database with one run of these arms: its path."""
    path = tmp_path / "lab.duckdb"
    with open_results(path) as results:
        run = results.begin_run("made_up", "name: made_up\n", 0, {})
        for made in arms:
            results.save_arm(run, made)
        results.finish_run(run, "done")
        if judged:
            judge_run(results, run)
    return str(path)


@pytest.fixture
def db(tmp_path: Path) -> str:
    """Sessions 0 and 3 read a row that padding had written; session 1 is right."""
    reads = [read("read_foreign_row", by=n, **PADDING) for n in (1, 31)]
    return stored(tmp_path, arm(bad(0, 0, 6), right(1), bad(3, 0, 9), events=tuple(reads)))


def test_the_most_telling_reply_is_explained_and_the_others_are_counted(
    db: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["explain", "--db", db]) == 0
    told = capsys.readouterr().out
    assert "made_up" in told and "session 0, turn 0, request 1" in told
    assert "dead_rows" in told and "1 other session of this arm failed likewise" in told


def test_a_session_is_explained_by_its_number(db: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(["explain", "--db", db, "--session", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["session"], told["request"], told["found"]) == (3, 31, "wrong_row")


def test_a_session_that_did_not_fail_is_told_with_those_that_did(
    db: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["explain", "--db", db, "--session", "1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Session 1: no judge failed it" in told and "Those that failed: 0, 3." in told


def test_all_prints_a_line_a_session_and_the_share(
    db: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["explain", "--db", db, "--all"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "session 0 turn 0, token 6: read_foreign_row" in told
    assert "joined to 2 of 2 corrupt sessions (100 %)" in told
    assert answer(["explain", "--db", db, "--all", "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["arms"]
    assert (only["corrupt"], only["joined"], len(only["sessions"])) == (2, 2, 2)
    assert (only["random_share"], only["random_share_by_read"]) == (0.0, 0.0)
    assert (only["random_replies"], only["joined_by_read"]) == (1, 2)


def test_of_a_session_that_no_judge_failed_the_violation_that_it_met_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    met = (read("read_foreign_row", by=12, **PADDING), read("read_foreign_row", by=1, **PADDING))
    first = replace(right(1), turn=0, request_id="chatcmpl-11")
    second = replace(right(1), turn=1, request_id="chatcmpl-12")
    path = stored(tmp_path, arm(bad(0, 0, 6), first, second, events=met))
    assert answer(["explain", "--db", path, "--session", "1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "no judge failed it" in told
    assert "it met read_foreign_row in turn 1, and its reply is right." in told


def test_a_run_without_a_failed_reply_says_what_the_ledger_saw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write = violation("padded_row_wrote_owned_slot", owner="request 1")
    made = arm(right(0), events=(write,))
    made.counters["violation:padded_row_wrote_owned_slot"] = 1
    path = stored(tmp_path, made)
    assert answer(["explain", "--db", path]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "there is nothing to explain" in told and "padded_row_wrote_owned_slot once" in told
    assert answer(["explain", "--db", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["found"] == "nothing" and told["chain"] == [] and told["session"] is None


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--arm", "bf61"], "--arm bf61: no such arm; accepted: 'bf16'"),
        (["--all", "--session", "0"], "--all with --session"),
        (["--session", "99"], "--session 99: no such session in run"),
        (["--session", "99", "--json"], "accepted: 0 to 3"),
    ],
)
def test_a_mistake_is_one_line(
    db: str, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(["explain", "--db", db, *arguments]) == 2
    told = capsys.readouterr()
    assert problem in told.err and not told.out


def test_a_run_that_nobody_judged_says_how_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stored(tmp_path, arm(bad(0, 0, 6)), judged=False)
    assert answer(["explain", "--db", path]) == 2
    assert "kvlab judge" in capsys.readouterr().err


def test_show_tells_of_it(db: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(["show", "--db", db, "--session", "3"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"--db {db} --session 3` says why" in told


def test_a_command_that_is_offered_finds_the_same_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "a folder with a space"
    folder.mkdir()
    reads = tuple(read("read_foreign_row", by=n, **PADDING) for n in (1, 31))
    made = arm(bad(0, 0, 6), bad(3, 0, 9), events=reads)
    path = stored(folder, made, replace(made, name="fp8, too"))
    assert answer(["explain", "--db", path]) == 0
    told = capsys.readouterr().out
    assert 'failed in 2 arms; shown is "bf16". The others:' in told
    offered = [shlex.split(line) for line in told.splitlines() if line.startswith("  kvlab ")]
    ends = [["bf16", "--all"], ["bf16", "--session", "3"], ["fp8, too"]]
    for typed, end in zip(offered, ends, strict=True):
        assert typed[4:] == [path, "--arm", *end]
        assert answer(typed[1:]) == 0


def test_an_arm_that_is_named_is_the_only_one_that_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stored(tmp_path, arm(bad(0, 0, 6)), replace(arm(bad(0, 0, 6)), name="other"))
    with open_results(Path(path)) as results:
        assert [it.name for it in results.histories(results.resolve("last"), "other")] == ["other"]
    assert answer(["explain", "--db", path, "--arm", "other"]) == 0
    assert "failed in 2 arms" not in capsys.readouterr().out

"""`kvlab replay`: what it prints, its one document, and its exit codes."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab.replaying.bundle import MANIFEST, SCENARIO, sha
from lab.replaying.perform import Wish, replay_session
from lab.replaying.report import fitted, replay_lines
from lab.store import open_results
from tests.lab.replaying.arms import stored

pytestmark = pytest.mark.usefixtures("folder")

ONE = """
name: one
build: [index_k_under_allocated]
workload: {kind: tool_sessions, preset: small, sessions: 1, turns: 1}
engine: {index_k: bf16}
arms: [{name: bad, overlap: true}]
"""
ABOUT = {"run": "20261130T100845-362e", "scenario": "s", "arm": "bad", "seed": 0, "session": 2}
STOPPED = {
    "at_s": 3.689606703,
    **{"event": 1737, "events": 2660, "step": 301, "prefill_steps": 15, "decode_steps": 282},
    **{"kind": "violation", "name": "row_shared_by_two_slots", "fields": {"n": 2, "slot": 3}},
    **{"says": ["Slot 3."], "session": 2, "turn": 0, "concerns_the_session": True},
    **{"reply_wrong": True, "wrong_turn": 0, "joined_by": "read", "failed_no_judge": False},
    "history_digest": "sha256:1",
}
DIFFERS = {
    "event": 9,
    "was": {"event": 9, "at_s": 0.5, "kind": "arrive", "fields": {"request": 99}},
    "here": None,
    "versions": {"torch": ["1.0", "2.0"]},
}
SHORTENED = {
    **{"scenario": "out/session-2.yaml", "tries": 7, "tries_used_up": True, "sessions": [0, 2]},
    **{"sessions_planned": 4, "turns": [2, 1], "turns_planned": 8, "verdict": "corrupt"},
    **{"deviations": {"engine.index_k": "bf16"}, "violations": {"row_shared_by_two_slots": 9}},
    **{"dropped": {"engine.overlap": [True, False]}, "history_digest": "sha256:2"},
    **{"replies_corrupt": 1, "session": 2, "wrong_turns": [0], "left_as_it_was": None},
    **{"at_defaults": {"engine.graph": True, "engine.concurrency": 60}, "stopped_turn": 0},
    "db": None,
}


def lines(part: dict[str, Any]) -> str:
    return "\n".join(replay_lines(part))


def test_where_it_stopped_is_told_with_time_step_event_and_session() -> None:
    told = lines({**ABOUT, "stopped": STOPPED, "differs": None})
    assert "stopped at row_shared_by_two_slots (2 times at once)" in told
    assert "at 3.689607 s of virtual time, step 301, after 15 prefill and 282 decode steps" in told
    assert "event 1,737 of 2,660" in told
    assert "It concerns session 2, turn 0, whose reply was wrong.\n" in told and "Slot 3." in told


def test_a_violation_of_somebody_else_is_said_to_be_one() -> None:
    other = {**STOPPED, "session": None, "turn": None, "concerns_the_session": False}
    other |= {"reply_wrong": None, "joined_by": None}
    told = lines({**ABOUT, "stopped": other, "differs": None})
    assert "It names no session, and none names session 2: the first of the run. The wrong" in told
    assert "turn 0: nothing that was seen before its first wrong token is joined to" in told


def test_a_violation_of_an_earlier_turn_says_which_reply_was_wrong() -> None:
    other = {**STOPPED, "reply_wrong": False, "wrong_turn": 3, "joined_by": "prefix"}
    told = lines({**ABOUT, "stopped": other, "differs": None})
    assert "It concerns session 2, turn 0, whose reply was right. The wrong reply is" in told
    assert "is of turn 3: it goes on from these rows." in told


def test_what_was_dropped_and_what_remains_are_told_with_the_file_that_repeats_it() -> None:
    told = lines({"shortened": SHORTENED})
    assert "sessions  2 of 4: 0, 2" in told and "turns     3 of 8: 2, 1" in told
    kept = "engine.index_k=bf16; all else at its default (graph=true, concurrency=60)"
    assert f"kept      {kept}" in told
    assert "dropped   engine.overlap true -> false" in told
    assert "ends as   corrupt with 1 corrupt reply (session 2: turn 0); row_shared" in told
    assert "a larger --tries looks further" in told
    assert "this repeats it:\n    kvlab run out/session-2.yaml" in told


def test_what_fails_in_another_turn_is_said_to_be_another_failure() -> None:
    other = {**SHORTENED, "wrong_turns": [1, 2], "stopped_turn": 3}
    said = "another failure of the same kind: session 2 fails in turns 1, 2 there, not in turn 3"
    assert said in lines({"shortened": other})
    assert "another failure" not in lines({"shortened": SHORTENED})


def test_a_session_that_failed_no_judge_is_said_first() -> None:
    at = {**STOPPED, "failed_no_judge": True, "wrong_turn": None, "reply_wrong": False}
    first, _ = lines({**ABOUT, "stopped": at, "differs": None}).split("\n", 1)
    assert first == "session 2 failed no judge; what is sought is the violation that it met"


def test_the_run_that_is_offered_names_the_database_that_was_given() -> None:
    told = lines({"shortened": {**SHORTENED, "db": "my lab.duckdb"}})
    assert "    kvlab run out/session-2.yaml --db 'my lab.duckdb'" in told


def test_a_run_without_a_session_names_those_that_failed(packed: Path, kvlab) -> None:
    said = kvlab("replay", "last", "--db", str(packed / "lab.duckdb"))
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert "SESSION is missing; those that failed: 0" in said.err


def test_a_bundle_with_a_session_is_one_line(packed: Path, kvlab) -> None:
    for db in (packed / "lab.duckdb", packed / "none.duckdb"):
        said = kvlab("replay", str(packed / "case"), "0", "--db", str(db))
        assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
        assert "case: a bundle takes no SESSION" in said.err


def test_a_command_is_a_line_of_its_own_as_a_shell_takes_it() -> None:
    told = lines({"bundle": "my cases/" + "long " * 30})
    last = told.splitlines()[-1]
    assert shlex.split(last) == ["kvlab", "replay", "my cases/" + "long " * 30]
    assert fitted(last, 60) == last


def test_what_does_not_fit_stands_under_its_beginning() -> None:
    line = "  what stands in a line that is too long"
    assert fitted(line, 24) == "  what stands in a line\n  that is too long"


def test_a_file_of_an_earlier_call_is_said_to_be_left() -> None:
    left = {**SHORTENED, "scenario": None, "left_as_it_was": "out/session-2.yaml"}
    told = lines({"shortened": left})
    assert "nothing shorter was found: out/session-2.yaml is left as it was" in told
    assert "kvlab run" not in told


def test_a_difference_is_told_by_both_events_and_the_versions() -> None:
    told = lines({**ABOUT, "stopped": None, "differs": DIFFERS})
    assert "goes another way than the stored run" in told
    assert "stored  arrive at 0.500000 s: request 99" in told
    assert "here    the history has ended" in told
    assert "torch 1.0 stored, 2.0 here" in told


def test_code_that_differs_is_told_like_a_version_and_an_older_run_did_not_know_its_own() -> None:
    differs = {**DIFFERS, "versions": {"sources": [None, "c0de"]}}
    told = lines({**ABOUT, "stopped": None, "differs": differs})
    assert "versions that differ: sources unknown stored, c0de here" in told
    told = lines({**ABOUT, "stopped": None, "differs": {**DIFFERS, "versions": {}}})
    assert "versions that differ: none" in told


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of a small run, really driven, and a bundle of a session of it."""
    folder = tmp_path_factory.mktemp("packed")
    with open_results(folder / "lab.duckdb") as results:
        run = stored(results, ONE)
        wish = Wish(0, shorten=False, bundle=folder / "case")
        told, packed = replay_session(results, run, wish)
        assert told["differs"] is None and packed == {"bundle": str(folder / "case")}
    return folder


def test_a_bundle_is_run_again_and_compared(packed: Path, kvlab) -> None:
    said = kvlab("replay", str(packed / "case"))
    assert (said.code, said.err) == (0, "") and "the same history" in said.out


def test_another_history_is_exit_1_and_named_in_the_document(
    packed: Path, tmp_path: Path, kvlab
) -> None:
    folder = Path(shutil.copytree(packed / "case", tmp_path / "other"))
    text = (folder / SCENARIO).read_bytes().replace(b"seed: 0", b"seed: 1")
    (folder / SCENARIO).write_bytes(text)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["files"][SCENARIO] = sha(text)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    said = kvlab("replay", str(folder), "--json")
    assert said.code == 1 and not said.json["same"]
    assert said.json["differs"]["versions"] == {}


def test_the_parts_of_a_session_are_one_document_and_are_told_one_by_one(
    packed: Path, tmp_path: Path, kvlab
) -> None:
    asked = "replay", "last", "0", "--db", str(packed / "lab.duckdb"), "--out", str(tmp_path)
    said = kvlab(*asked, "--tries", "1", "--json")
    assert said.code == 0 and said.json["stopped"]["wrong_turn"] == 0
    assert said.json["shortened"]["db"] == str(packed / "lab.duckdb")
    assert said.json["shortened"]["tries"] == 1 and said.json["shortened"]["wrong_turns"] == [0]
    said = kvlab(*asked, "--no-shorten")
    assert said.code == 0 and "stopped at" in said.out and "shortened" not in said.out


def test_a_session_that_does_not_exist_is_one_line(packed: Path, kvlab) -> None:
    said = kvlab("replay", "last", "7", "--db", str(packed / "lab.duckdb"))
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert "no session 7; accepted: 0 to 0" in said.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["last"], "last: no such bundle; `kvlab replay RUN SESSION` takes a stored run"),
        (["good.yaml"], "good.yaml: is a file; a bundle is a folder"),
        (["."], ".: not a bundle: manifest.json: No such file or directory"),
        ([".", "--arm", "x"], "--arm: for a stored run; `kvlab replay RUN SESSION` takes it"),
        ([".", "--bundle", "x"], "--bundle: for a stored run"),
        ([".", "--tries", "40"], "--tries: for a stored run"),
        ([".", "--db", "x.duckdb"], "--db: for a stored run"),
        ([".", "--out", "x"], "--out: for a stored run"),
        ([".", "--no-shorten"], "--no-shorten: for a stored run"),
        (["last", "1"], "no such database"),
        (["last", "-1"], "-1"),
        (["last", "1", "--tries", "-1"], "'--tries'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(argv: list[str], says: str, kvlab) -> None:
    said = kvlab("replay", *argv)
    assert said.code == 2 and said.out == ""
    assert says in said.err and said.err.count("\n") == 1


def test_a_session_that_is_clean_or_not_there_is_one_line(trial, kvlab) -> None:
    kvlab("run", "good.yaml", "--sessions", "5")
    for session, arm, says in (
        ("4", "fp8, graph on", "session 4 is clean in 'fp8, graph on': nothing to stop at"),
        ("9", "fp8, graph on", "no session 9; accepted: 0 to 4"),
        ("0", "fp8", "no such arm"),
    ):
        said = kvlab("replay", "last", session, "--arm", arm)
        assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
        assert says in said.err

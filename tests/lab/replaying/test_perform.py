"""A stored session, really run again: stopped, shortened, packed, and compared."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.errors import LabError, UserError
from lab.replaying import again as comparing
from lab.replaying import trying
from lab.replaying.again import replay_bundle
from lab.replaying.bundle import MANIFEST, pack, sha
from lab.replaying.case import Case, find
from lab.replaying.perform import Wish, replay_session, stop
from lab.replaying.stopping import Stop
from lab.replaying.trying import alike, shorten
from lab.scenario.loader import load_scenario
from lab.store import Results
from lab.trial import run_arm
from tests.lab.replaying.arms import wrong

SESSION = 1


@pytest.fixture(scope="module")
def case(results: Results, run: str) -> Case:
    return find(results, run, SESSION)


def test_the_arm_stops_at_the_violation_with_the_history_that_it_had(case: Case) -> None:
    at = stop(case)["stopped"]
    assert (at["name"], at["kind"], at["session"]) == (case.stop.name, "violation", SESSION)
    assert at["concerns_the_session"]
    assert at["event"] < at["events"] - 1
    assert at["fields"] == case.history.events[at["event"]][2]
    assert at["says"] and at["prefill_steps"] > 0
    assert stop(case)["stopped"] == at


def test_a_run_that_goes_another_way_says_where_and_with_which_versions(case: Case) -> None:
    events = [*case.history.events]
    at_ns, kind, fields = events[9]
    events[9] = (at_ns, kind, {**fields, "request": 99})
    other = replace(
        case,
        history=replace(case.history, events=events),
        run=replace(case.run, versions={**case.run.versions, "torch": "1.0"}),
    )
    found = stop(other)
    assert found["stopped"] is None
    assert (found["differs"]["event"], found["differs"]["here"]["fields"]) == (9, fields)
    assert list(found["differs"]["versions"]) == ["torch"]
    assert found["differs"]["versions"]["torch"][0] == "1.0"


@pytest.fixture(scope="module")
def short(case: Case, folder: Path) -> dict[str, Any]:
    return shorten(case, 40, folder / "short.yaml")


def test_what_is_left_fails_alike_and_its_file_runs_to_the_same_digest(
    case: Case, short: dict[str, Any]
) -> None:
    assert len(short["sessions"]) == 1 and sum(short["turns"]) == 1
    assert short["sessions"] == [SESSION] and short["wrong_turns"] == [case.stop.wrong]
    assert short["violations"][case.stop.name] > 0 and not short["tries_used_up"]
    assert short["deviations"] == {"engine.index_k": "bf16"}
    assert set(short["dropped"]) == {"engine.concurrency", "workload.think_s", "workload.kind"}
    file = load_scenario(Path(short["scenario"]))
    assert run_arm(file, file.arms[0], file.seed).history_digest == short["history_digest"]
    assert file.expect["bad"].verdict == "corrupt"


@pytest.mark.slow
def test_shortening_again_ends_alike(case: Case, short: dict[str, Any], tmp_path: Path) -> None:
    again = shorten(case, 40, tmp_path / "short.yaml")
    text = Path(short["scenario"]).read_text(encoding="utf-8")
    assert (tmp_path / "short.yaml").read_text(encoding="utf-8") == text
    assert {**again, "scenario": short["scenario"]} == short


def test_without_tries_the_file_is_the_arm_as_it_ran(case: Case, tmp_path: Path) -> None:
    short = shorten(case, 0, tmp_path / "short.yaml")
    assert (short["tries"], short["tries_used_up"]) == (0, True)
    assert short["history_digest"] == case.history.history_digest
    file = load_scenario(tmp_path / "short.yaml")
    assert file.settings(file.arms[0]) == case.history.settings


def test_what_was_found_before_an_interruption_is_in_the_file(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trying, "run_arm", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shorten(case, 40, tmp_path / "short.yaml")
    assert load_scenario(tmp_path / "short.yaml").name == f"halved_session_{SESSION}"


@pytest.mark.parametrize(
    ("stop", "seen", "turns", "same"),
    [
        (Stop(9, "read_after_free", None, 1, 2), ["read_after_free"], [(1, 2)], True),
        (Stop(9, "read_after_free", None, 1, 2), ["read_after_free"], [(0, 2)], False),
        (Stop(9, "read_after_free", None, 1, 2), ["read_torn_layers"], [(1, 2)], False),
        (Stop(9, "read_after_free", None, 1), ["read_after_free"], [], True),
        (Stop(9, None, None, 1, 2), [], [(1, 2)], True),
        (Stop(9, None, None, 1, 2), ["read_after_free"], [], False),
    ],
    ids=[
        *("both", "another session's reply", "another violation"),
        *("a violation that no reply showed", "a reply without a violation", "no wrong reply"),
    ],
)
def test_an_arm_fails_alike_by_its_violation_and_by_the_session_s_wrong_reply(
    case: Case, stop: Stop, seen: list[str], turns: list[tuple[int, int]], same: bool
) -> None:
    verdict = replace(case.verdict, violations=dict.fromkeys(seen, 1))
    assert alike(stop, verdict, [wrong(*turn) for turn in turns]) == same


def test_a_file_of_an_earlier_call_is_not_overwritten_by_the_whole_schedule(
    case: Case, tmp_path: Path
) -> None:
    (tmp_path / "short.yaml").write_text("shorter", encoding="utf-8")
    short = shorten(case, 0, tmp_path / "short.yaml")
    assert short["scenario"] is None and short["left_as_it_was"] == str(tmp_path / "short.yaml")
    assert (tmp_path / "short.yaml").read_text(encoding="utf-8") == "shorter"


def test_a_schedule_that_cannot_be_run_does_not_fail(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise LabError("no such pool")

    monkeypatch.setattr(trying, "run_arm", refuse)
    short = shorten(case, 5, tmp_path / "short.yaml")
    assert (short["tries"], len(short["sessions"])) == (5, 2)


@pytest.fixture(scope="module")
def packed(results: Results, run: str, folder: Path) -> Path:
    wish = Wish(SESSION, tries=0, bundle=folder / "bundle", out=folder)
    parts = list(replay_session(results, run, wish))
    assert [list(part)[-1] for part in parts] == ["differs", "shortened", "bundle"]
    return folder / "bundle"


@pytest.fixture
def copy(packed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(packed, tmp_path / "bundle"))


def test_a_bundle_replays_to_the_same_digest_without_a_database(copy: Path, case: Case) -> None:
    found = replay_bundle(copy)
    assert found["same"] and found["differs"] is None
    assert found["history_digest"] == found["bundle_digest"] == case.history.history_digest
    assert (found["verdict"], found["bundle_verdict"]) == ("corrupt", "corrupt")
    assert (found["arm"], found["session"], found["run"]) == ("bad", SESSION, case.run.id)


def test_a_bundle_holds_what_was_stored(packed: Path, case: Case) -> None:
    def read(name: str) -> Any:
        return json.loads((packed / name).read_text(encoding="utf-8"))

    replies = (packed / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(it)["raw_text"] for it in replies] == [
        it.raw_text for it in case.history.replies
    ]
    assert read("versions.json") == case.run.versions
    assert read("config.json")["toggles"] == case.history.settings
    assert read("config.json")["derived"]["engine"]["build"] == ["index_k_under_allocated"]
    assert (packed / "stored.yaml").read_text(encoding="utf-8") == case.run.yaml
    assert len(read("verdict.json")["findings"]) == len(case.findings)
    assert read("stopped.json")["name"] == case.stop.name
    assert "kvlab replay bundle" in (packed / "README.txt").read_text(encoding="utf-8")
    assert (packed / "shortened.yaml").exists()


def test_the_readme_of_a_bundle_names_its_folder_as_a_shell_takes_it(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my case").mkdir()
    monkeypatch.chdir(tmp_path / "my case")
    pack(case, None, Path(), None)
    said = Path("README.txt").read_text(encoding="utf-8")
    assert "kvlab replay 'my case'\n" in said
    assert "kvlab run 'my case/scenario.yaml'\n" in said


def test_a_shortened_file_that_is_gone_is_one_line(case: Case, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.yaml: cannot be read: No such file"):
        pack(case, None, tmp_path / "bundle", tmp_path / "gone.yaml")


def test_the_shortened_scenario_of_a_run_with_several_arms_is_named_by_its_arm_too(
    packed: Path,
) -> None:
    assert (packed.parent / f"session-{SESSION}-bad.yaml").exists()


def test_another_history_is_told_by_its_first_event(
    copy: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    def healthy(scenario: Any, *rest: Any) -> Any:
        return run_arm(scenario.model_copy(update={"build": ()}), *rest)

    monkeypatch.setattr(comparing, "run_arm", healthy)
    found = replay_bundle(copy)
    assert not found["same"]
    assert (found["verdict"], found["bundle_verdict"]) == ("clean", "corrupt")
    first = next(n for n, it in enumerate(case.history.events) if it[1] == "violation")
    assert found["differs"]["was"]["event"] == first
    assert found["differs"]["versions"] == {}


def rewritten(folder: Path, name: str, text: bytes) -> None:
    """Replace a file of a bundle, and what its manifest says of it."""
    (folder / name).write_bytes(text)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["files"][name] = sha(text)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def changed(key: str, value: Any) -> Callable[[Path], None]:
    """What changes a key of a bundle's manifest."""

    def change(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        (folder / MANIFEST).write_text(json.dumps({**manifest, key: value}), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda it: (it / MANIFEST).unlink(), "not a bundle: manifest.json: No such file"),
        (lambda it: (it / MANIFEST).write_text("{"), "damaged: not JSON"),
        (lambda it: (it / MANIFEST).write_text("[]"), "not a bundle of kvlab's"),
        (changed("format", "a zoo"), "not a bundle of kvlab's"),
        (changed("format_version", 2), "bundle format 2; this kvlab reads 1"),
        (changed("files", {}), "damaged: it says nothing of scenario.yaml"),
        (changed("history_digest", "sha256:0"), "the events do not give the history's digest"),
        (lambda it: (it / "replies.jsonl").unlink(), "replies.jsonl: cannot be read"),
        (lambda it: (it / "verdict.json").write_text("{}"), "verdict.json: damaged"),
        (lambda it: rewritten(it, "verdict.json", b"[]"), "damaged: a file of it cannot be read"),
        (lambda it: rewritten(it, "history.jsonl.gz", b"gz"), "a file of it cannot be read"),
        (lambda it: rewritten(it, "scenario.yaml", b"name: [\n"), "not YAML"),
        (
            lambda it: rewritten(it, "scenario.yaml", b"zoo: 1\n"),
            "1: name: is missing",
        ),
        (shutil.rmtree, "no such bundle; `kvlab replay RUN SESSION` takes a stored run"),
    ],
)
def test_a_damaged_or_foreign_bundle_is_one_line(
    copy: Path, damage: Callable[[Path], None], said: str
) -> None:
    damage(copy)
    with pytest.raises(UserError, match=said) as caught:
        replay_bundle(copy)
    assert "\n" not in str(caught.value)


def test_a_bundle_is_not_mixed_with_what_is_there(results: Results, run: str, packed: Path) -> None:
    with pytest.raises(UserError, match="is there already; --bundle names a new"):
        list(replay_session(results, run, Wish(SESSION, bundle=packed)))

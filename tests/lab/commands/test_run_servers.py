"""`kvlab run` over servers: boots in their order, a dry run, a run taken up again, and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab import running
from lab.store import RunStatus, open_results
from lab.targets import foreign
from tests.lab.scenario.files import write
from tests.lab.scenario.servers import served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.commands.conftest import FakeTrial

ORDER = ["cached", "cached and alone", "uncached"]


@pytest.fixture
def file(folder: Path) -> str:
    """A scenario over a made-up server: three arms on two boots."""
    return str(served(folder).relative_to(folder))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, trial: FakeTrial) -> list[str]:
    """What the servers of the run are told, between the arms."""
    said: list[str] = []

    class Fake:
        def __init__(self, profile: Any, folder: Path, params: Any, build: Any, **_: Any) -> None:
            said.append(f"logs in {folder.name}, {dict(params)}")

        def __enter__(self) -> Fake:
            return self

        def __exit__(self, *_: object) -> None:
            said.append("over")

        def close(self) -> None:
            said.append("closed")

    def run_arm(scenario: Any, arm: Any, *rest: Any, servers: Any) -> Any:
        said.append(arm.name)
        return trial(scenario, arm, *rest)

    monkeypatch.setattr(foreign, "Servers", Fake)
    monkeypatch.setattr(running, "run_arm", run_arm)
    return said


def stored(folder: Path) -> Any:
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
    return run


def test_arms_run_boot_by_boot_and_the_servers_are_stopped(told, kvlab, file: str) -> None:
    assert kvlab("run", file).code == 0
    assert told == ["logs in servers, {'model_path': '/models/tiny'}", "closed", *ORDER, "over"]


def test_a_repetition_has_a_boot_of_its_own(told, kvlab, file: str) -> None:
    assert kvlab("run", file, "--repeats", "2").code == 0
    assert told[1:-1] == [
        *("closed", "cached", "cached and alone", "uncached"),
        *("closed", "uncached #2", "cached #2", "cached and alone #2"),
    ]


def test_servers_are_stopped_when_the_user_stops_the_run(told, trial, kvlab, file: str) -> None:
    trial.raises = {"uncached": KeyboardInterrupt()}
    said = kvlab("run", file, "--sessions", "2")
    assert said.code == 130 and told[-1] == "over"
    assert f"`kvlab run {file} --sessions 2 --resume " in said.err


def test_a_dry_run_starts_nothing_and_stores_nothing(told, kvlab, folder: Path, file: str) -> None:
    said = kvlab("run", file, "--dry-run")
    assert (said.code, told) == (0, [])
    assert [line for line in said.out.splitlines() if not line.startswith("#")] == [
        "python3 -m shop --model /models/tiny --port 30000 --enable-prefix-caching",
        "python3 -m shop --model /models/tiny --port 30000 --no-enable-prefix-caching",
    ]
    assert [boot["boot"] for boot in kvlab("run", file, "--dry-run", "--json").json["boots"]] == [
        1,
        2,
    ]
    assert not (folder / "results").exists()


def test_a_run_goes_on_with_the_arms_that_it_has_not_stored(
    trial, kvlab, folder: Path, file: str
) -> None:
    trial.raises = {"uncached": KeyboardInterrupt()}
    kvlab("run", file)
    asked = [name for name, _, _ in trial.asked]
    trial.raises, trial.asked = {}, []
    said = kvlab("run", file, "--resume", "last", "--json")
    assert (asked, [name for name, _, _ in trial.asked]) == (ORDER, ["uncached"])
    assert [arm["name"] for arm in said.json["arms"]] == ORDER
    assert stored(folder).status is RunStatus.DONE


def test_a_run_of_the_engine_in_this_process_goes_on_too(trial, kvlab, folder: Path) -> None:
    trial.raises = {"fp8, graph on": KeyboardInterrupt()}
    kvlab("run", "good.yaml", "--seed", "3")
    trial.raises = {}
    assert kvlab("run", "good.yaml", "--seed", "3", "--resume", "last").code == 0
    assert len(stored(folder).arms) == 3


def test_a_run_whose_file_or_options_have_changed_does_not_go_on(
    trial, kvlab, folder: Path
) -> None:
    trial.raises = {"fp8, graph on": KeyboardInterrupt()}
    kvlab("run", "good.yaml")
    trial.asked = []
    other = kvlab("run", "good.yaml", "--resume", "last", "--sessions", "3")
    text = (folder / "good.yaml").read_text(encoding="utf-8")
    write(folder, text.replace("sessions: 12", "sessions: 11"))
    changed = kvlab("run", "good.yaml", "--resume", "last")
    for said in (other, changed):
        assert said.code == 2 and said.err.count("\n") == 1
        assert said.err.startswith("kvlab: --resume last: good.yaml is not what run ")
    assert trial.asked == [] and stored(folder).status is RunStatus.INTERRUPTED


def test_a_run_that_is_done_has_nothing_to_go_on_with(trial, kvlab, folder: Path) -> None:
    kvlab("run", "good.yaml")
    said = kvlab("run", "good.yaml", "--resume", "last")
    assert said.code == 2 and " is done; `kvlab report " in said.err
    assert kvlab("run", "good.yaml", "--resume", "nobody").code == 2


def test_where_a_server_fails_a_run_may_go_on_and_says_3(
    trial, kvlab, folder: Path, file: str
) -> None:
    trial.dies = {"cached": "killed"}
    assert kvlab("run", file).code == 3
    assert stored(folder).arms == ("cached",)
    said = kvlab("run", file, "--keep-going", "--json", "--db", "other.duckdb")
    assert said.code == 3
    assert [arm["verdict"] for arm in said.json["arms"]] == ["inconclusive", "clean", "clean"]
    told = "the target failed in 1 of 3 arms: 'cached': the engine died: killed"
    assert said.err.splitlines()[-1] == f"kvlab: {told}"


def test_an_arm_whose_server_failed_is_run_again_in_its_place(
    trial, kvlab, folder: Path, file: str
) -> None:
    trial.dies = {"cached and alone": "killed"}
    assert kvlab("run", file).code == 3
    assert stored(folder).arms == ("cached", "cached and alone")
    trial.dies, trial.asked = {}, []
    said = kvlab("run", file, "--resume", "last", "--json")
    assert said.code == 0 and "kvlab: " not in said.err
    assert [name for name, _, _ in trial.asked] == ORDER[1:]
    assert [(arm["name"], arm["verdict"]) for arm in said.json["arms"]] == [
        (name, "clean") for name in ORDER
    ]


def test_a_dry_run_of_a_run_that_goes_on_shows_what_is_left_of_it(
    trial, kvlab, folder: Path, file: str
) -> None:
    trial.dies = {"cached and alone": "killed"}
    kvlab("run", file)
    trial.asked = []
    said = kvlab("run", file, "--resume", "last", "--dry-run", "--json")
    assert [boot["arms"] for boot in said.json["boots"]] == [["cached and alone"], ["uncached"]]
    assert (trial.asked, stored(folder).status) == ([], RunStatus.FAILED)
    nobody = kvlab("run", file, "--resume", "nosuch", "--dry-run")
    assert (nobody.code, nobody.out) == (2, "") and "no run 'nosuch'" in nobody.err
    changed = kvlab("run", file, "--resume", "last", "--dry-run", "--sessions", "3")
    assert changed.code == 2 and " is not what run " in changed.err


def test_ab_and_sweep_repeat_and_dry_run_as_run_does(told, kvlab, file: str) -> None:
    pair = ("ab", file, "cached", "uncached")
    assert kvlab(*pair, "--repeats", "2").code == 0
    assert told[1:-1] == ["closed", "cached", "uncached", "closed", "uncached #2", "cached #2"]
    told.clear()
    ladder = ("sweep", file, "--toggle", "max_num_seqs=8,4")
    shown = [kvlab(*it, "--dry-run", "--repeats", "2", "--json").json for it in (pair, ladder)]
    assert [[boot["round"] for boot in it["boots"]] for it in shown] == [[1, 1, 2, 2]] * 2
    assert told == []


@pytest.mark.parametrize(
    ("argv", "second"),
    [
        (("ab", "good.yaml", "--toggle", "index_k=bf16,fp8"), "index_k=fp8"),
        (("sweep", "good.yaml", "--toggle", "concurrency=1,2,4"), "concurrency=2"),
    ],
)
def test_ab_and_sweep_say_how_they_go_on_and_do(argv, second: str, trial, kvlab, folder) -> None:
    trial.raises = {second: KeyboardInterrupt()}
    said = kvlab(*argv)
    assert said.code == 130 and f"`kvlab {' '.join(argv)} --resume " in said.err
    trial.raises, trial.asked = {}, []
    assert kvlab(*argv, "--resume", "last").code == 0
    assert trial.asked[0][0] == second


def test_repetitions_are_stored_by_arm_and_told_as_one(trial, kvlab, folder) -> None:
    trial.corrupt = {"bf16, graph on": 3, "bf16, graph on #2": 3}
    told = kvlab("run", "good.yaml", "--repeats", "2", "--json").json
    assert [arm["name"] for arm in told["arms"][3:]] == [
        f"{arm['name']} #2" for arm in told["arms"][:3]
    ]
    first = told["repeats"]["arms"][0]
    assert (first["arms"], first["verdict"]) == (["bf16, graph on", "bf16, graph on #2"], "corrupt")
    # one seed and one clock: the second is the first again, and no further evidence
    assert (first["sessions"], first["counted"]) == (60, ["bf16, graph on"])

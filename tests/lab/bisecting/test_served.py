"""Launched servers as a search asks them: boots, seeds, what does not come up, a whole search."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from lab.bisect.notebook import Refused
from lab.bisect.space import Config
from lab.bisecting.order import Order, ordered, parameters
from lab.bisecting.perform import Place, perform, planned
from lab.bisecting.served import ServedWorld
from lab.bisecting.world import trial_seed
from lab.errors import TargetError
from lab.launching import Server, Servers
from lab.scenario.loader import load_scenario, parse_scenario
from lab.targets import Task, foreign
from tests.lab.replies import EXPECTED, TOOLS, said
from tests.lab.samples import history
from tests.lab.scenario.servers import served
from tests.lab.workloads.test_schemas import collection

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import ArmHistory

WRONG = EXPECTED.replace("MINE12345", "MINE12354")
BAD = Config(frozenset({"prefix_caching", "kv_dtype"}))
NONE = Config()
SIZES = ("workload.sessions=4", "bisect.p_min=0.1")
URL = """
name: of_a_url
target: http://127.0.0.1:9
workload: {kind: tool_sessions, preset: small, sessions: 4}
toggles: {concurrency: {bad: 8, good: 1}}
"""


@dataclass
class Launched:
    """The servers that were asked for, and the tasks that they were given."""

    up: list[dict[str, Any]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    closed: int = 0
    broken: str = ""  # a toggle without which, where it is bad, nothing comes up


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Launched:
    """No server is started: prefix caching with an fp8 cache corrupts, and nothing else."""
    made = Launched()

    def up(self: Servers, settings: dict[str, Any]) -> Server:
        if made.broken and settings[made.broken] == "fp8":
            raise TargetError("profile shop: node server ended with exit code 1")
        made.up.append(dict(settings))
        return Server("http://127.0.0.1:9", len(made.up), (), {}, {})

    def run_remote(task: Task, server: Server, profile: object = None) -> ArmHistory:
        made.tasks.append(task)
        on = task.settings
        bad = on.get("prefix_caching") and on.get("kv_dtype") == "fp8"
        texts = [WRONG if bad and session < 2 else EXPECTED for session in range(len(task.plans))]
        found = history(task.name, sessions=len(texts), turns=1)
        found.replies = [replace(said(text), session=at) for at, text in enumerate(texts)]
        offered = [{"function": {"name": name, "parameters": it}} for name, it in TOOLS.items()]
        found.events = [(0, "tools_offered", {"tools": json.dumps(offered)})]
        found.settings, found.counters = dict(on), {"prefix_hits": 9}
        return found

    def close(self: Servers) -> None:
        made.closed += 1

    monkeypatch.setattr(Servers, "up", up)
    monkeypatch.setattr(Servers, "close", close)
    monkeypatch.setattr(foreign, "run_remote", run_remote)
    return made


def test_a_trial_is_the_load_of_its_seed_on_the_boot_of_its_settings(
    launched: Launched, tmp_path: Path
) -> None:
    heard: list[int] = []
    scenario = load_scenario(served(tmp_path))
    told = lambda config, trial: heard.append(trial.corrupt)  # noqa: E731
    with ServedWorld(scenario, tmp_path, seed=7, told=told) as world:
        bad, good = world.probe(BAD, range(2)), world.probe(NONE, range(1))
    assert [task.seed for task in launched.tasks] == [trial_seed(7, at) for at in (0, 1, 0)]
    assert [on["kv_dtype"] for on in launched.up] == ["fp8", "fp8", "auto"]
    assert [trial.corrupt for trial in (*bad, *good)] == heard == [2, 2, 0]
    assert launched.closed == 1  # at the end


def test_trials_may_be_given_boots_of_their_own(launched: Launched, tmp_path: Path) -> None:
    scenario = load_scenario(served(tmp_path), ["bisect.boots=fresh"])
    with ServedWorld(scenario, tmp_path, seed=7) as world:
        world.probe(BAD, range(3))
    assert launched.closed == 3 + 1


def test_what_does_not_come_up_is_refused_and_a_server_that_never_does_is_broken(
    launched: Launched, tmp_path: Path
) -> None:
    launched.broken = "kv_dtype"
    scenario = load_scenario(served(tmp_path))
    with ServedWorld(scenario, tmp_path, seed=7) as world:
        with pytest.raises(TargetError, match="no server: profile shop: node server ended"):
            world.probe(BAD, range(1))
        world.probe(NONE, range(1))
        with pytest.raises(Refused, match="no server: profile shop: node server ended"):
            world.probe(BAD, range(1))


def test_a_search_over_servers_finds_the_flags_and_tries_no_replay(
    launched: Launched, tmp_path: Path
) -> None:
    place = Place(tmp_path / "results" / "lab.duckdb")
    told, _ = perform(served(tmp_path), Order(sets=SIZES), place)
    assert (told["verdict"], told["replay"]) == ("CONFIRMED", None)
    assert [it["toggle"] for it in told["culprits"]] == ["prefix_caching", "kv_dtype"]
    assert told["roles"]["max_num_seqs"] not in ("NECESSARY", "SUFFICIENT")
    assert told["sessions_spent"] == 4 * len(launched.tasks)
    assert any("shared a boot" in said for said in told["guarantee"])


def test_a_search_over_servers_is_taken_up_again_without_asking_twice(
    launched: Launched, tmp_path: Path
) -> None:
    place = Place(tmp_path / "results" / "lab.duckdb")
    first, _ = perform(served(tmp_path), Order(sets=SIZES, no_confirm=True), place)
    asked = len(launched.tasks)
    again, _ = perform(None, Order(), place, "last")
    assert len(launched.tasks) == asked and again["culprits"] == first["culprits"]


def test_a_plan_has_the_command_of_every_probe_once(launched: Launched, tmp_path: Path) -> None:
    place = Place(tmp_path / "results" / "lab.duckdb")
    told = planned(served(tmp_path), Order(sets=SIZES), place)
    lines = [it["line"] for boot in told["boots"] for it in boot["commands"]]
    first = "--enable-prefix-caching --max-num-seqs 16 --kv-cache-dtype fp8"
    assert lines[0].endswith(first) and len(set(lines)) == len(lines) > 2
    assert launched.up == []


@pytest.mark.parametrize(("boots", "starts"), [("shared", 1), ("fresh", 7)])
def test_a_planned_boot_has_the_sessions_of_its_probes_and_says_how_often_it_starts(
    boots: str, starts: int, tmp_path: Path
) -> None:
    order = Order(sets=(*SIZES, f"bisect.boots={boots}", "bisect.p_min=0.3"))
    told = planned(served(tmp_path), order, Place(tmp_path / "lab.duckdb", tmp_path / "out"))
    sessions = [probe["sessions"] for probe in told["probes"]]
    assert sum(boot["sessions"] for boot in told["boots"]) == sum(sessions)
    assert told["boots"][0]["sessions"] == sessions[0] == 4 * 7
    assert told["boots"][0]["starts"] == starts


def test_a_url_is_searched_for_what_its_load_can_flip(launched: Launched, tmp_path: Path) -> None:
    file = tmp_path / "url.yaml"
    file.write_text(URL, encoding="utf-8")
    scenario = ordered(file, Order())
    with ServedWorld(scenario, tmp_path, seed=0) as world:
        (trial,) = world.probe(Config(frozenset({"concurrency"})), range(1))
    assert (trial.sessions, launched.up) == (4, [])
    assert launched.tasks[0].settings["concurrency"] == 8


@pytest.mark.parametrize(("kind", "exact"), [("tool_sessions", True), ("tool_tasks", False)])
def test_a_checker_is_exact_only_where_every_text_is_known(
    kind: str, exact: bool, tmp_path: Path
) -> None:
    collection(tmp_path)
    load = kind if exact else f"{kind}, data: {tmp_path}"
    scenario = parse_scenario(URL.replace("tool_sessions", load), "url.yaml")
    assert parameters(scenario, Order()).exact is exact

"""`kvlab serve`, launched for the arms: the same incident over HTTP, and nothing left running."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from lab.bisect.space import Config
from lab.bisecting.order import Order, ordered
from lab.bisecting.served import ServedWorld
from lab.progress import RunProgress
from lab.running import run_scenario
from lab.scenario.loader import load_scenario
from lab.store import open_results

FILE = Path(__file__).parents[2] / "scenarios" / "campaigns" / "served.yaml"
TRIALS = 10  # seven of eight show it: that none of ten does is not to be expected in a life
CULPRITS = ("graph", "index_k")
HEALTHY = """\
name: healthy_elsewhere
target: kvlab_serve
workload: {kind: tool_sessions, preset: small, sessions: 2, turns: 1}
engine: {concurrency: 2, index_k: bf16, hicache: false}
arms:
  - {name: graph}
  - {name: no graph, graph: false}
  - {name: graph and alone, concurrency: 1}
"""


def ports(logs: Path) -> list[int]:
    """Where the boots of a run listened, in their order."""
    words = [path.read_text(errors="replace") for path in sorted(logs.glob("boot-*.log"))]
    return [int(found[1]) for text in words if (found := re.search(r"--port (\d+)", text))]


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_arms_on_a_healthy_server_are_clean_run_as_asked_and_leave_nothing(tmp_path: Path) -> None:
    file = tmp_path / "healthy.yaml"
    file.write_text(HEALTHY, encoding="utf-8")
    with open_results(tmp_path / "lab.duckdb") as results:
        verdict = run_scenario(load_scenario(file), results, RunProgress(), tmp_path / "out")
        histories = results.histories(verdict.run)
    assert {arm.verdict for arm in verdict.arms} <= {"clean", "inconclusive"}
    assert all(arm.replies_corrupt == arm.unfinished == 0 for arm in verdict.arms)
    events = {it.name: [(kind, fields) for _, kind, fields in it.events] for it in histories}
    boots = {n: next(f["boot"] for k, f in of if k == "server") for n, of in events.items()}
    assert boots == {"graph": 1, "graph and alone": 1, "no graph": 2}
    assert not [k for of in events.values() for k, _ in of if k == "setting_not_effective"]
    read = [f for k, f in events["no graph"] if k == "setting_effective" and f["key"] == "graph"]
    assert [it["effective"] for it in read] == ["false"]
    assert len(ports(tmp_path / "out" / "servers")) == 2
    assert not any(map(listens, ports(tmp_path / "out" / "servers")))


@pytest.mark.slow
def test_the_incident_shows_over_http_and_without_one_of_its_culprits_nothing_does(
    tmp_path: Path,
) -> None:
    scenario = ordered(FILE, Order())
    bad = frozenset(scenario.toggles)
    with ServedWorld(scenario, tmp_path, seed=0) as world:
        for at in range(TRIALS):
            (seen,) = world.probe(Config(bad), range(at, at + 1))
            if seen.corrupt:
                break
        cured = [world.probe(Config(bad - {one}), range(1))[0] for one in CULPRITS]
    assert seen.corrupt and "padded_row_wrote_owned_slot" in seen.violations
    assert [(trial.corrupt, trial.verdict, dict(trial.violations)) for trial in cured] == [
        (0, "clean", {}),
        (0, "clean", {}),
    ]
    assert not any(map(listens, ports(tmp_path)))

"""A folder with one scenario, and arms that are made up instead of run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lab import running
from lab.app import answer
from lab.plots import FIGURES
from lab.records import ArmHistory
from lab.registry import Registry
from lab.report import figures
from lab.scenario.models import Arm, Scenario
from tests.lab.replies import EXPECTED, TOOLS, said
from tests.lab.samples import history
from tests.lab.scenario.files import write

OFFERED = [
    {"type": "function", "function": {"name": name, "parameters": parameters}}
    for name, parameters in TOOLS.items()
]


@dataclass
class FakeTrial:
    """Stands in for ``run_arm``; ``raises`` by arm name is what happens instead of a history."""

    corrupt: dict[str, int] = field(default_factory=dict)
    raises: dict[str, BaseException] = field(default_factory=dict)
    dies: dict[str, str] = field(default_factory=dict)  # arm name -> what its engine died of
    tiers: dict[str, ArmHistory] = field(default_factory=dict)  # arm name -> what it moved
    rooms: dict[str, ArmHistory] = field(default_factory=dict)  # arm name -> whose rooms it has
    asked: list[tuple[str, int, int]] = field(default_factory=list)  # arm, sessions, seed

    def __call__(
        self,
        scenario: Scenario,
        arm: Arm,
        seed: int,
        progress: Callable[[int, int], None],
        servers: object = None,
    ) -> ArmHistory:
        sessions = scenario.sessions(arm)
        self.asked.append((arm.name, sessions, seed))
        if arm.name in self.raises:
            raise self.raises[arm.name]
        progress(sessions, sessions)
        wrong = self.corrupt.get(arm.name, 0)
        texts = [EXPECTED.replace("calls", "cblls")] * wrong + [EXPECTED] * (sessions - wrong)
        replies = [replace(said(text), session=i) for i, text in enumerate(texts)]
        made = history(arm.name, sessions=sessions, corrupt=wrong)
        # the counters that the judges want to see moved before they call an arm clean
        counters = {**made.counters, "graph_replays": 9, "prefix_hits": 9, "padded_rows": 9}
        settings = scenario.settings(arm)
        if arm.name in self.tiers:
            counters |= self.tiers[arm.name].counters
        events = [(0, "tools_offered", {"tools": json.dumps(OFFERED)})]
        if arm.name in self.dies:
            events.append((9, "engine_died", {"error": self.dies[arm.name]}))
        if arm.name in self.tiers:
            events.insert(0, self.tiers[arm.name].events[0])
        made = replace(made, replies=replies, settings=settings, counters=counters, events=events)
        return self._with_rooms(made) if arm.name in self.rooms else made

    def _with_rooms(self, made: ArmHistory) -> ArmHistory:
        """The arm with the rooms that another one had, one a session, and what it counted."""
        pair = self.rooms[made.name]
        counters = {**made.counters, **pair.counters}
        events = [*pair.events, *made.events]
        ids = [f"chatcmpl-{room.request}" for room in pair.rooms]
        replies = [replace(it, request_id=ids[it.session]) for it in made.replies]
        told = replace(made, counters=counters, events=events, replies=replies)
        return replace(told, rooms=pair.rooms, digests=pair.digests)


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> FakeTrial:
    """Arms of this test are made up; the first one is corrupt. No figure is drawn."""
    fake = FakeTrial(corrupt={"bf16, graph on": 3})
    monkeypatch.setattr(running, "run_arm", fake)
    monkeypatch.setattr(figures, "FIGURES", Registry("figure", "lab.stats"))
    return fake


@pytest.fixture
def drawn(trial: FakeTrial, monkeypatch: pytest.MonkeyPatch) -> FakeTrial:
    """The same with figures."""
    monkeypatch.setattr(figures, "FIGURES", FIGURES)
    return trial


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: `good.yaml` and nothing else."""
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one document that it must be."""
        return json.loads(self.out)


@pytest.fixture
def kvlab(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run one command line."""

    def call(*argv: str) -> Said:
        code = answer(list(argv))
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return call

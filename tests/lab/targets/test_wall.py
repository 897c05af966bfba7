"""An arm by the wall's clock: the same engine and judges, real seconds, and no digest."""

from __future__ import annotations

import pytest

from lab.judging import judge_arm
from lab.records import NO_DIGEST, ArmHistory
from lab.scenario.loader import parse_scenario
from lab.targets import bundled
from lab.trial import run_arm
from tests.lab.targets.test_bundled import Hanging

SCENARIO = """
name: by_the_wall
clock: wall
build: [BUILD]
workload: {kind: tool_sessions, preset: small, sessions: 5, turns: 1, think_s: 0}
engine: {index_k: bf16, concurrency: 5, graph_max_bs: 8}
arms: [{name: one}, {name: a pair, pd: true}]
"""


def ran(build: str = "", arm: int = 0) -> ArmHistory:
    scenario = parse_scenario(SCENARIO.replace("BUILD", build), "wall.yaml")
    return run_arm(scenario, scenario.arms[arm], 0)


@pytest.mark.parametrize("arm", [0, 1])
def test_a_healthy_arm_is_clean_takes_real_seconds_and_has_no_digest(arm: int) -> None:
    history = ran(arm=arm)
    assert judge_arm(history)[0].verdict == "clean"
    assert history.history_digest == NO_DIGEST
    assert 0.0 < history.virtual_s <= history.wall_s
    assert all(0.0 <= it.sent_s < (it.done_s or 0.0) <= history.virtual_s for it in history.replies)
    spans = [fields for _, kind, fields in history.events if kind == "span"]
    assert spans


def test_an_incident_corrupts_as_under_the_virtual_clock() -> None:
    found = judge_arm(ran("padded_scatter_stale_slots"))[0]
    assert found.violations["padded_row_wrote_owned_slot"] > 0
    assert found.verdict == "corrupt"


def test_a_wedge_ends_by_its_silence_long_before_its_clients_give_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundled, "open_engine", Hanging)
    monkeypatch.setattr(bundled, "quiet_s", lambda config: 0.2)
    history = ran()
    assert history.stalled is not None and "no event for" in history.stalled
    assert judge_arm(history)[0].verdict == "wedged"
    assert history.wall_s < (history.timeout_s or 0.0) / 10

"""An arm whose engine is a pair: served by both sides, and what became of its rooms is kept."""

from __future__ import annotations

from lab.copies import stored_geometry
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

SCENARIO = """
name: pair
workload: {kind: tool_sessions, preset: small, sessions: 1}
engine: {pd: true, tp: 2}
arms: [{name: one}]
"""


def test_a_pair_serves_an_arm_and_leaves_its_rooms_and_their_digests() -> None:
    scenario = parse_scenario(SCENARIO, "pair.yaml")
    history = run_arm(scenario, scenario.arms[0], 0)
    assert [reply.status for reply in history.replies] == ["ok", "ok"]
    assert {(room.rank, room.outcome) for room in history.rooms} == {(0, "Success"), (1, "Success")}
    assert {found.stage for found in history.digests} == {"post_store", "post_transfer"}
    assert {row["tier"] for row in stored_geometry(history)} == {"device", "decode"}
    assert history.timeout_s == 600.0

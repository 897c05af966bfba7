"""What a pair of engines costs, and a wire that holds it up: wall time over that of one engine.

One rule: ratios of runs that took turns, each at its fastest; a second of one machine proves
nothing on another, and a loaded machine slows whatever runs then.
"""

from __future__ import annotations

from typing import Any

from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

# the reference load. Saturated, rooms queue behind slow transfers and some wait past a deadline;
# on a wire that is as good as dead half of them wait for the 300 s of the default
LOAD = """
name: pair
workload: {kind: tool_sessions, preset: reference, sessions: 24, turns: 1}
engine: {index_k: bf16}
arms:
  - {name: alone}
  - {name: pair, pd: true}
  - name: saturated
    pd: true
    workers: 2
    queue_size: 2
    wire_gb_per_s: 0.05
    waiting_timeout: 4.0
  - {name: timed out, pd: true, workers: 1, queue_size: 1, wire_gb_per_s: 0.001}
"""
ROUNDS = 2  # runs of each arm, in turn


def pair_cost(load: str = LOAD) -> dict[str, Any]:
    """The first arm in wall seconds, each other one as a multiple of it, and what was waited for.

    The first arm is one engine. Clocks are virtual: waiting passes there, and costs nothing here.
    """
    scenario = parse_scenario(load, "pair")
    runs = [[run_arm(scenario, arm, 0) for arm in scenario.arms] for _ in range(ROUNDS)]
    fastest = [min(arm.wall_s for arm in side) for side in zip(*runs, strict=True)]
    alone, *others = runs[0]
    found: dict[str, Any] = {alone.name: f"{fastest[0]:.2f} s, {alone.virtual_s:.0f} s virtual"}
    for arm, wall_s in zip(others, fastest[1:], strict=True):
        late = arm.counters.get("waiting_timeouts", 0)
        waited = f"{arm.virtual_s:.0f} s virtual, {late} waiting timeouts"
        found[arm.name] = f"{wall_s / fastest[0]:.2f} x the time alone ({waited})"
    return found

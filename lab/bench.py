"""A short load, measured: what the bundled engine does a second, and where the time goes.

One rule: rates come from a run that nothing watches; the same run under torch's profiler only
says how much of that time was spent inside torch's operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.profiler import ProfilerActivity, profile

from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from lab.records import ArmHistory

LOAD = """
name: bench
workload: {kind: tool_sessions, preset: reference, sessions: 8, turns: 2}
arms: [{name: bench}]
"""
SHOWN = 6  # operations listed


def measure() -> dict[str, Any]:
    """Run the load three times: to warm up, to time, to profile. Times in seconds."""
    run()
    timed = run()
    with profile(activities=[ProfilerActivity.CPU]) as watched:
        run()
    inside = {
        entry.key: entry.self_cpu_time_total / 1e6
        for entry in watched.key_averages()
        if entry.self_cpu_time_total > 0
    }
    inside_s = sum(inside.values())
    return {
        **rates(timed),
        "wall_s": round(timed.wall_s, 2),
        "inside_torch_s": round(inside_s, 2),
        "outside_torch": f"{max(0.0, 1 - inside_s / timed.wall_s):.0%}",
        **{f"in {key}": f"{s / inside_s:.0%}" for key, s in largest(inside)},
    }


def run() -> ArmHistory:
    """The load, once, on a healthy engine."""
    scenario = parse_scenario(LOAD, "bench")
    return run_arm(scenario, scenario.arms[0], scenario.seed)


def rates(history: ArmHistory) -> dict[str, Any]:
    """Tokens a wall second: decoded ones, and prompt tokens that no cached prefix spared."""
    decoded = sum(reply.completion_tokens for reply in history.replies)
    computed = sum(reply.prompt_tokens - reply.cached_tokens for reply in history.replies)
    return {
        "load": f"{history.sessions} sessions, {decoded} tokens decoded, {computed} prefilled",
        "tokens_per_s": round((decoded + computed) / history.wall_s),
        "decoded_per_s": round(decoded / history.wall_s),
    }


def largest(inside: dict[str, float]) -> list[tuple[str, float]]:
    """The operations that take most of the time, the largest first."""
    return sorted(inside.items(), key=lambda pair: -pair[1])[:SHOWN]

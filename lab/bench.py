"""A short load, measured: what the bundled engine does a second, and where the time goes.

One rule: rates come from a run that nothing watches. The share outside torch comes from a second
run whose every torch operation is timed, less what the watching itself costs an operation.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine.clock import wall_s
from lab.bench_pair import pair_cost
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from lab.records import ArmHistory

LOAD = """
name: bench
workload: {kind: tool_sessions, preset: reference, sessions: 24, turns: 1}
arms: [{name: bench}]
"""
# prefixes leave the device between two turns of a session: with a host tier they come back
PRESSED = """
name: pressed
workload: {kind: tool_sessions, preset: reference, sessions: 24, turns: 2}
engine: {pool_pages: 320, concurrency: 24}
arms: [{name: without}, {name: with, hicache: true}]
"""
PAIRS = 2  # runs of each, in turn
SHOWN = 6  # operations listed
PROBES = 20_000  # calls of a tiny operation that calibrate the watching


class OperationTimes(TorchDispatchMode):
    """Adds up the wall seconds and the calls of every torch operation below it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seconds: dict[str, float] = {}
        self.calls = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        began = wall_s()
        result = func(*args, **(kwargs or {}))
        name = str(func.overloadpacket)
        self.seconds[name] = self.seconds.get(name, 0.0) + wall_s() - began
        self.calls += 1
        return result


def measure() -> dict[str, Any]:
    """Run the load unwatched, then with its operations timed. Times in seconds."""
    run()  # tables are built, threads are started
    timed = run()
    with OperationTimes() as watched:
        slowed_s = run().wall_s
    inside_s = sum(watched.seconds.values())
    steps = max(1, timed.counters.get("decode_steps", 0))
    return {
        **rates(timed),
        "wall_s": round(timed.wall_s, 2),
        "outside_torch": outside_torch(inside_s, slowed_s, watched.calls),
        "torch_operations": f"{watched.calls}, in {steps} decode steps and the prefill",
        **{f"in {key}": f"{s / inside_s:.0%}" for key, s in largest(watched.seconds)},
        "hicache_under_pressure": tier_cost(),
        **{f"disaggregated, {name}": cost for name, cost in pair_cost().items()},
    }


def tier_cost() -> str:
    """What a host tier costs a load that overflows the device: seconds with it over without."""
    scenario = parse_scenario(PRESSED, "pressed")
    pairs = [[run_arm(scenario, arm, 0) for arm in scenario.arms] for _ in range(PAIRS)]
    without, with_it = (min(arm.wall_s for arm in side) for side in zip(*pairs, strict=True))
    restored = pairs[0][1].counters.get("pages_restored", 0)
    return f"{with_it / without:.2f} x the time without ({restored} pages restored)"


def outside_torch(inside_s: float, wall_s: float, calls: int) -> str:
    """Share of the watched run spent outside torch, once the cost of watching is taken off both."""
    alone_s, slowed_s, timed_s = watching_cost()
    inside = inside_s - calls * (timed_s - alone_s)
    wall = wall_s - calls * (slowed_s - alone_s)
    share = 1 - inside / wall if wall > 0 else -1.0
    return f"{share:.0%}" if 0 <= share <= 1 else "not measurable here: the machine is too busy"


def watching_cost() -> tuple[float, float, float]:
    """Seconds of a tiny operation: unwatched, watched, and as the watch reads it."""
    tiny = torch.zeros(1)
    watch = OperationTimes()
    spent: list[float] = []
    for mode in (nullcontext(), watch):
        began = wall_s()
        with torch.inference_mode(), mode:
            for _ in range(PROBES):
                tiny.neg_()
        spent.append((wall_s() - began) / PROBES)
    return spent[0], spent[1], sum(watch.seconds.values()) / PROBES


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


def largest(seconds: dict[str, float]) -> list[tuple[str, float]]:
    """The operations that take most of the time, the largest first."""
    return sorted(seconds.items(), key=lambda pair: -pair[1])[:SHOWN]

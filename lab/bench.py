"""A short load, measured: what the bundled engine does a second, and where the time goes.

One rule: rates come from a run that nothing watches; the same run with every torch operation timed
only says how much of that time was spent inside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils._python_dispatch import TorchDispatchMode

from engine.clock import wall_s
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from lab.records import ArmHistory

LOAD = """
name: bench
workload: {kind: tool_sessions, preset: reference, sessions: 8, turns: 1}
arms: [{name: bench}]
"""
SHOWN = 6  # operations listed


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
    """Run the load twice: unwatched, then with its operations timed. Times in seconds."""
    timed = run()
    with OperationTimes() as watched:
        run()
    inside_s = sum(watched.seconds.values())
    steps = max(1, timed.counters.get("decode_steps", 0))
    return {
        **rates(timed),
        "wall_s": round(timed.wall_s, 2),
        "inside_torch_s": round(inside_s, 2),
        "outside_torch": f"{max(0.0, 1 - inside_s / timed.wall_s):.0%}",
        "torch_operations": f"{watched.calls}, in {steps} decode steps and the prefill",
        **{f"in {key}": f"{s / inside_s:.0%}" for key, s in largest(watched.seconds)},
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


def largest(seconds: dict[str, float]) -> list[tuple[str, float]]:
    """The operations that take most of the time, the largest first."""
    return sorted(seconds.items(), key=lambda pair: -pair[1])[:SHOWN]

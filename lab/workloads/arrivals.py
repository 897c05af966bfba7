"""When clients come and how long they think. One rule: one seeded generator a purpose."""

from __future__ import annotations

from random import Random


def arrivals(seed: int, sessions: int, rate: float | None) -> list[float]:
    """Starts in seconds: a Poisson process of ``rate`` sessions a second; all at 0 for None."""
    if rate is None:
        return [0.0] * sessions
    rng, at, starts = Random(f"{seed}/arrivals"), 0.0, []
    for _ in range(sessions):
        at += rng.expovariate(rate)
        starts.append(at)
    return starts


def pauses(seed: int, session: int, turns: int, mean_s: float) -> tuple[float, ...]:
    """Seconds before each turn: exponential with ``mean_s``, none before the first."""
    rng = Random(f"{seed}/think/{session}")
    drawn = [rng.expovariate(1.0) * mean_s for _ in range(turns)]
    return (0.0, *drawn[1:])

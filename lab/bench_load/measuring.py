"""`kvlab bench load`: generators in turn, at each number of sessions, round after round.

One rule: what is compared was measured in one round, one after another; of several rounds the
median is told, and how busy the machine was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lab.bench_load.mock import Pace
from lab.bench_load.peers import GENERATORS, OURS, OWN_PYTHON, Asked
from lab.bench_load.running import Run, run, server
from lab.errors import UserError

if TYPE_CHECKING:
    from lab.bench_load.peers import Generator

WAVES = 4  # replies that each session gets, at least
MOST_SESSIONS = 2000
MOST_ERROR = 0.05  # of the truth: what a generator may be wrong about gaps


@dataclass(frozen=True)
class Plan:
    """What is measured. ``seconds`` is how long a run takes that nothing hinders."""

    levels: tuple[int, ...] = (64, 256)
    rate: float = 0.0
    seconds: float = 5.0
    rounds: int = 1
    beside: str = ""
    python: str = ""
    pace: Pace = field(default_factory=Pace)

    def requests(self, sessions: int) -> int:
        """Of one run."""
        if self.rate:
            return max(1, round(self.rate * self.seconds))
        return sessions * max(WAVES, round(self.seconds / self.pace.reply_s))

    def asked_per_s(self, sessions: int) -> float:
        """Requests a second as configured: arrivals, or what so many sessions do unhindered."""
        return self.rate or sessions / self.pace.reply_s

    def generators(self) -> list[tuple[Generator, str]]:
        """Ours, then the other one, each with its Python; raises ``UserError``."""
        ours = [(GENERATORS[OURS], OWN_PYTHON)]
        if not self.beside:
            return ours
        others = sorted({*GENERATORS} - {OURS})
        if self.beside not in others:
            raise UserError(f"--beside: no generator {self.beside!r}; known: {', '.join(others)}")
        if not Path(self.python).is_file():
            what = f"the Python of an environment with {self.beside}"
            raise UserError(f"--python: {self.python!r} is no file; give {what}")
        if self.rate:
            raise UserError("--rate: not beside another generator; sessions alone")
        return [*ours, (GENERATORS[self.beside], self.python)]


def levels_of(listed: str) -> tuple[int, ...]:
    """``64,256`` as numbers; raises ``UserError``."""
    words = [word.strip() for word in listed.split(",")]
    if not all(word.isdecimal() and 0 < int(word) <= MOST_SESSIONS for word in words):
        accepted = f"numbers from 1 to {MOST_SESSIONS}, as in 64,256"
        raise UserError(f"--sessions: {listed!r}; accepted: {accepted}")
    return tuple(int(word) for word in words)


def measure(plan: Plan, tick: Callable[[int, int], None]) -> dict[str, Any]:
    """Every generator at every level in every round; JSON-ready."""
    generators, busy = plan.generators(), os.getloadavg()[0]
    places = [(level, *each) for level in plan.levels for each in generators]
    found: dict[tuple[int, str], list[Run]] = {}
    for done in range(due := plan.rounds * len(places)):
        tick(done, due)
        level, generator, python = places[done % len(places)]
        runs = found.setdefault((level, generator.name), [])
        runs.append(_run(plan, generator, python, level))
    tick(due, due)
    rows = [
        row(plan, name, level, runs, found[level, OURS]) for (level, name), runs in found.items()
    ]
    return {
        "pace": asdict(plan.pace),
        "seconds": plan.seconds,
        "rate": plan.rate,
        "rounds": plan.rounds,
        "machine": {"cores": os.cpu_count(), "load_before": busy, "load": os.getloadavg()[0]},
        "rows": rows,
    }


def _run(plan: Plan, generator: Generator, python: str, sessions: int) -> Run:
    with TemporaryDirectory(prefix="kvlab-load-") as name:
        folder = Path(name)
        with server(plan.pace, folder) as (url, mock):
            asked = Asked(url, sessions, plan.requests(sessions), plan.rate, folder)
            return run(generator, python, asked, plan.pace, mock)


def row(
    plan: Plan, name: str, sessions: int, runs: Sequence[Run], ours: Sequence[Run]
) -> dict[str, Any]:
    """Medians over the rounds of one generator at one level; ``ratio`` is ours over it, paired."""
    tokens, requests = plan.pace.tokens, plan.requests(sessions)
    pairs = [
        mine.rates.tokens_per_cpu_s / run.rates.tokens_per_cpu_s
        for mine, run in zip(ours, runs, strict=True)
        if run.rates.tokens_per_cpu_s
    ]
    return {
        "generator": name,
        "sessions": sessions,
        "requests": requests,
        "failed": max(requests - run.said.replies for run in runs),
        "asked_per_s": round(plan.asked_per_s(sessions), 1),
        "requests_per_s": _median([run.rates.tokens_per_s / tokens for run in runs], 1),
        "cores": _median([run.rates.cores for run in runs], 3),
        "requests_per_core_s": _median([run.rates.tokens_per_cpu_s / tokens for run in runs], 1),
        "ratio": _median(pairs, 2) if name != OURS else None,
        **_times(runs),
        "server_late_p99_ms": _median([run.truth.late_p99_s * 1e3 for run in runs], 2),
        "server_cores": _median([run.server_cores for run in runs], 3),
    }


def _times(runs: Sequence[Run]) -> dict[str, float | None]:
    """Gaps and first tokens as told, as sent, and how far apart; how late the generator ran."""
    sent = [run.truth.itl_s * 1e3 for run in runs]
    lags = [run.said.lag for run in runs if run.said.lag]
    itl = [run.said.itl_ms for run in runs]
    pairs = zip(itl, sent, strict=True)
    errors = [told / true - 1.0 for told, true in pairs if told is not None and true]
    return {
        "itl_ms": _median(itl, 3),
        "itl_sent_ms": _median(sent, 3),
        "itl_error": _median(errors, 4),
        "ttft_ms": _median([run.said.ttft_ms for run in runs], 2),
        "ttft_sent_ms": _median([run.truth.ttft_s * 1e3 for run in runs], 2),
        "lag_median_ms": _median([lag["median_s"] * 1e3 for lag in lags], 2),
        "lag_p99_ms": _median([lag["p99_s"] * 1e3 for lag in lags], 2),
        "lag_worst_ms": _median([lag["worst_s"] * 1e3 for lag in lags], 2),
    }


def _median(values: Sequence[float | None], digits: int) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), digits) if known else None

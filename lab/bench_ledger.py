"""What the shadow memory costs: one load at each level of `ledger`, the levels in turn.

One rule: a ratio is that of two runs of one round, and of several rounds the median is told; wall
time is what a person waits, and CPU time is what is left of it on a machine that others use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.table import Table

from engine.clock import cpu_s
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from lab.scenario.models import Arm, Scenario

LOAD = """
name: ledger
workload: {{kind: tool_sessions, preset: {preset}, sessions: {sessions}, turns: 1}}
arms:
  - {{name: "off", ledger: "off"}}
  - {{name: tags, ledger: tags}}
  - {{name: full, ledger: full}}
"""
BOUNDS = {"tags": 1.25, "full": 2.0}  # times `off`


@dataclass(frozen=True)
class Level:
    """One level: medians of seconds, of the ratios to `off`, and what it found, which is nothing
    unless something is broken.
    """

    level: str
    wall_s: float
    cpu_s: float
    wall_ratio: float
    cpu_ratio: float
    violations: int


@dataclass(frozen=True)
class Spent:
    """What one run took."""

    wall_s: float
    cpu_s: float
    violations: int


def load(sessions: int, preset: str = "reference") -> Scenario:
    """The reference load, its arms the levels."""
    return parse_scenario(LOAD.format(sessions=sessions, preset=preset), "ledger")


def measure(
    scenario: Scenario, rounds: int, seed: int, tick: Callable[[int, int], None]
) -> list[Level]:
    """Every level, `off` first; a run that nothing is read from goes before."""
    arms, done = scenario.arms, 0
    _run(scenario, arms[0], seed)  # tables are built, threads are started
    found: dict[str, list[Spent]] = {arm.name: [] for arm in arms}
    for number in range(rounds):
        turn = number % len(arms)
        for arm in (*arms[turn:], *arms[:turn]):
            found[arm.name].append(_run(scenario, arm, seed))
            tick(done := done + 1, rounds * len(arms))
    return [_level(arm.name, found[arm.name], found[arms[0].name]) for arm in arms]


def document(levels: Iterable[Level], sessions: int, rounds: int, seed: int) -> dict[str, Any]:
    """The measurement, JSON-ready."""
    rows = [asdict(level) | {"bound": BOUNDS.get(level.level)} for level in levels]
    return {"sessions": sessions, "rounds": rounds, "seed": seed, "levels": rows}


def table(levels: Sequence[Level], sessions: int, rounds: int) -> Table:
    """The measurement for a person."""
    made = Table(title=f"{sessions} reference sessions, median of {rounds} rounds")
    made.title_justify = "left"
    made.add_column("ledger", no_wrap=True)
    for head in ("wall s", "CPU s", "wall / off", "CPU / off", "bound", "violations"):
        made.add_column(head, justify="right", no_wrap=True)
    for each in levels:
        bound = BOUNDS.get(each.level)
        times = f"{each.wall_s:.2f}", f"{each.cpu_s:.2f}"
        ratios = f"{each.wall_ratio:.2f}", f"{each.cpu_ratio:.2f}"
        made.add_row(each.level, *times, *ratios, str(bound or ""), str(each.violations))
    return made


def _run(scenario: Scenario, arm: Arm, seed: int) -> Spent:
    began = cpu_s()
    history = run_arm(scenario, arm, seed)
    found = (n for name, n in history.counters.items() if name.startswith("violation:"))
    return Spent(history.wall_s, cpu_s() - began, sum(found))


def _level(name: str, runs: Sequence[Spent], off: Sequence[Spent]) -> Level:
    pairs = list(zip(runs, off, strict=True))
    return Level(
        level=name,
        wall_s=round(median(run.wall_s for run in runs), 3),
        cpu_s=round(median(run.cpu_s for run in runs), 3),
        wall_ratio=round(median(run.wall_s / base.wall_s for run, base in pairs), 3),
        cpu_ratio=round(median(run.cpu_s / base.cpu_s for run, base in pairs), 3),
        violations=sum(run.violations for run in runs),
    )

"""What a bisection would ask, and what it would cost. One rule: nothing of the target is run.

The first probes are those of the search itself over a world that gives the likeliest answers; the
cost is that of whole searches over simulated worlds with the same toggles, seeded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from lab.bisect.conclusion import Verdict
from lab.bisect.notebook import Notebook, Phase, Probe
from lab.bisect.search import search
from lab.bisect.worlds import SimulatedWorld
from lab.bisecting.document import settings
from lab.bisecting.likely import LikelyWorld, chances
from lab.bisecting.order import METHOD, Order, fixed, least, ordered, parameters
from lab.bisecting.space_of import arm_of, ladders_of, space_of
from lab.dry_run import dry_run
from lab.errors import StoreError, UserError
from lab.store import open_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lab.bisect.parameters import Parameters
    from lab.scenario.models import Arm, Scenario

RATES = (0.5, 0.17, 0.06)  # corrupt sessions with all toggles bad
WORLDS = 8  # simulated searches a rate
PROBES = 6  # of discovery that are named
FEWER = 12  # sessions a trial, where those of the file take too many
MOST = 100_000  # sessions of a simulated search, so that a plan has an end


@dataclass(frozen=True)
class Expected:
    """What whole searches took at one rate of corruption, in sessions."""

    rate: float
    mean: float
    most: int
    within: int  # of the searches, those that its budget allows
    searches: int
    minutes: float | None  # None: nobody knows how long a session takes

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        minutes = None if self.minutes is None else round(self.minutes, 1)
        return {
            "rate": self.rate,
            "sessions_mean": round(self.mean),
            "sessions_most": self.most,
            "searches": self.searches,
            "within_budget": self.within,
            "minutes_mean": minutes,
        }


def plan(file: Path, order: Order, db: Path, jobs: int) -> dict[str, Any]:
    """The plan as a document: the first probes and the expected sessions; raises `UserError`."""
    whole = ordered(file, order)
    scenario, params = fixed(whole, order.fix), parameters(whole, order)
    check_budget(scenario, params, order)
    seconds = seconds_a_session(db, scenario.name)
    costs = [
        expected(scenario, params, order, rate, None if seconds is None else seconds / jobs)
        for rate in RATES
    ]
    return {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "method": order.method or METHOD,
        "budget": params.budget,
        "sessions_a_trial": scenario.workload.sessions,
        "seconds_a_session": seconds,
        "probes": [
            {
                "phase": probe.phase.value,
                "toggles": settings(probe.config, scenario.toggles),
                "sessions": probe.sessions,
            }
            for probe in first_probes(scenario, params, order)
        ],
        "assumed_rate": RATES[1],
        "expected": [cost.document() for cost in costs],
        "would_do": would_do(file, order, costs),
        "boots": launched(scenario, params, order),
    }


def launched(scenario: Scenario, params: Parameters, order: Order) -> list[dict[str, Any]]:
    """The boots of these probes with their commands, each once; none where nothing is launched.

    Each has the sessions of all its probes, and ``starts``: how often it is started meanwhile.
    """
    if scenario.target.profile is None:
        return []
    probes = first_probes(scenario, params, order)
    found = dry_run(scenario.model_copy(update={"arms": tuple(_arms(scenario, probes))}))["boots"]
    fresh, running = scenario.bisect.boots == "fresh", None
    boot_of = {name: boot for boot in found for name in boot["arms"]}
    for row, probe in enumerate(probes, start=1):
        boot = boot_of[_named(row)]
        again = len(probe.outcome) if fresh else boot is not running
        boot["starts"] = boot.get("starts", 0) + int(again)
        running = boot
    return list(found)


def _arms(scenario: Scenario, probes: Sequence[Probe]) -> Iterator[Arm]:
    """Each probe as the arm that it is, by its row in the plan."""
    for row, probe in enumerate(probes, start=1):
        arm = arm_of(scenario, probe.config, _named(row))
        yield arm.model_copy(update={"sessions": probe.sessions})


def _named(row: int) -> str:
    return f"probe {row}"


def first_probes(scenario: Scenario, params: Parameters, order: Order) -> list[Probe]:
    """The arms of phase 0, each as one probe, then the first ones of discovery."""
    space, batch = space_of(scenario), scenario.workload.sessions
    world = LikelyWorld(space, params.most, RATES[1], batch)
    notebook = Notebook(world, MOST)
    search(notebook, space, params, order.method or METHOD, until=Verdict.SUSPECT)
    joined: list[Probe] = []
    for probe in notebook.probes:
        last = joined[-1] if joined else None
        if last and (last.phase, last.config) == (probe.phase, probe.config):
            joined[-1] = replace(last, outcome=last.outcome + probe.outcome)
        else:
            joined.append(probe)
    begun = sum(probe.phase is not Phase.DISCOVER for probe in joined)
    return joined[: begun + PROBES]


def expected(
    scenario: Scenario,
    params: Parameters,
    order: Order,
    rate: float,
    seconds: float | None = None,
    worlds: int = WORLDS,
) -> Expected:
    """What a search takes over culprits as likely as the search itself believes them."""
    console = Console(stderr=True)
    with Progress(
        console=console, auto_refresh=False, transient=True, disable=not console.is_terminal
    ) as bars:
        task = bars.add_task(f"searching at a rate of {rate:.0%}", total=worlds)
        spent = []
        for number in range(worlds):
            spent.append(_simulated(scenario, params, order, rate, number))
            bars.advance(task)
            bars.refresh()
    mean = float(np.mean(spent))
    minutes = None if seconds is None else mean * seconds / 60
    within = sum(n <= params.budget for n in spent)
    return Expected(rate, mean, max(spent), within, worlds, minutes)


def would_do(file: Path, order: Order, costs: Sequence[Expected]) -> dict[str, Any] | None:
    """What would let every simulated search end at the rates at which the budget lets less than
    half of them: a budget, and `FEWER` sessions a trial where these do; None where there is none.
    """
    short = [cost for cost in costs if 2 * cost.within < cost.searches]
    if not short:
        return None
    fewer = replace(order, sessions=FEWER)
    whole = ordered(file, fewer)
    scenario, params = fixed(whole, order.fix), parameters(whole, fewer)
    smaller = fixed(ordered(file, order), order.fix).workload.sessions > FEWER
    do = smaller and all(
        expected(scenario, params, fewer, cost.rate, worlds=cost.searches).within == cost.searches
        for cost in short
    )
    return {
        "rates": [cost.rate for cost in short],
        "budget": _rounded(max(cost.most for cost in short)),
        "sessions": FEWER if do else None,
    }


def _rounded(sessions: int) -> int:
    """Up to a ten."""
    return -(-sessions // 10) * 10


def _simulated(
    scenario: Scenario, params: Parameters, order: Order, rate: float, number: int
) -> int:
    """Sessions of one whole search; numeric culprits turn in the middle of their ladder."""
    space, ladders = space_of(scenario), ladders_of(scenario)
    draw = np.random.default_rng([scenario.seed, round(1000 * rate), number])
    sets, shares = chances(space, params.most)
    culprits = frozenset(space.keys(sets[int(draw.choice(len(sets), p=shares))]))
    world = SimulatedWorld(
        space.toggles,
        culprits,
        p1=rate,
        seed=int(draw.integers(2**31)),
        batch_sessions=scenario.workload.sessions,
        thresholds={key: steps[len(steps) // 2] for key, steps in ladders.items()},
        falling=frozenset(key for key, steps in ladders.items() if steps[-1] < steps[0]),
    )
    until = Verdict.SUSPECT if order.no_confirm else Verdict.CONFIRMED
    notebook = Notebook(world, MOST)
    return search(notebook, space, params, order.method or METHOD, ladders, until=until).spent


def check_budget(scenario: Scenario, params: Parameters, order: Order) -> None:
    """Raise `UserError` where a budget cannot conclude anything, with one that would do."""
    needed = least(params, scenario.workload.sessions)
    if params.budget >= needed:
        return
    would = max(needed, expected(scenario, params, order, RATES[1]).most)
    given = "--budget" if order.budget is not None else f"{scenario.path}: bisect.budget:"
    raise UserError(
        f"{given} {params.budget}: too small to conclude anything: an arm that stays clean takes"
        f" {needed} sessions; {_rounded(would)} would do at a rate of {RATES[1]:.0%}"
    )


def seconds_a_session(db: Path, scenario: str) -> float | None:
    """What a session of this scenario took in bisections and runs; None where none is stored."""
    try:
        with open_results(db, create=False) as results:
            return results.seconds_a_session(scenario)
    except StoreError:
        return None

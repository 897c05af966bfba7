"""Sessions to a verdict on simulated worlds: every method on the same ones, beside the bound.

One rule: equal arguments, equal figures; nothing here depends on the machine or on its load.

A method that searches without knowing the rates pays for phase 0, and its figures count that; one
that is told them does not. A *wrong* answer names a set that is not the culprits'. Where a search
names none, it is *undecided*; so is one whose culprits confirmation does not confirm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.bench_bisect_cells import SIZES, TOGGLES, Contender, Group
from lab.bisect.bound import sessions_needed
from lab.bisect.conclusion import Discovery, Verdict
from lab.bisect.confirm import confirm
from lab.bisect.notebook import Notebook
from lab.bisect.parameters import Parameters
from lab.bisect.reproduce import Reproduction, reproduce
from lab.bisect.space import Space
from lab.bisect.trials import Tally, Unit
from lab.bisect.units import held_to

if TYPE_CHECKING:
    from lab.bisect.worlds import SimulatedWorld

BUDGET = 20_000  # sessions: nobody is stopped, everybody is counted
SPACE = Space(TOGGLES)


@dataclass(frozen=True)
class Ending:
    """One world searched by one contender: what it cost, and what was said."""

    spent: int
    decided: bool
    wrong: bool


Endings = list[tuple[Ending, Ending | None]]  # a contender each: discovered, confirmed


@dataclass(frozen=True)
class Summary:
    """The endings of a cell: sessions to the verdict, whatever it was; the rest in percent."""

    worlds: int
    mean: float
    p95: int
    wrong: float
    undecided: float


@dataclass(frozen=True)
class Row:
    """One contender in one cell; ``confirmed`` counts phase 2, for those that go through it."""

    label: str
    told: bool
    discovered: Summary
    confirmed: Summary | None


@dataclass(frozen=True)
class Cell:
    """One rate and one size of the culprit set, in the worlds of one group."""

    group: str
    p1: float
    p0: float
    k: int
    lower_bound: float
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Job:
    """One world of one cell."""

    group: Group
    p1: float
    k: int
    index: int
    seed: int


Answers = Iterable[tuple[int, Endings]]  # a job's position, and what came of it, in any order
Runner = Callable[[Callable[[Job], Endings], Sequence[Job]], Answers]


def planned(groups: Iterable[Group], worlds: int, seed: int) -> list[Job]:
    """Every world of every cell, in the order of the tables."""
    return [
        Job(group, p1, k, index, seed)
        for group in groups
        for p1 in group.rates
        for k in SIZES
        for index in range(max(1, round(worlds * group.share)))
    ]


def measure(work: Sequence[Job], tick: Callable[[int, int], None], runner: Runner) -> list[Cell]:
    """Every cell; ``runner`` runs the jobs, in this process or in others."""
    found: dict[int, Endings] = {}
    for at, endings in runner(run, work):
        found[at] = endings
        tick(len(found), len(work))
    pairs = ((job, found[at]) for at, job in enumerate(work))
    cells = groupby(pairs, key=lambda pair: (pair[0].group.name, pair[0].p1, pair[0].k))
    return [_cell(list(some)) for _, some in cells]


def run(job: Job) -> Endings:
    """Every contender of a job in its world."""
    world = job.group.world(job.seed, job.p1, job.k, job.index)
    return [ended(world, each, job.index) for each in job.group.contenders]


def ended(world: SimulatedWorld, contender: Contender, seed: int) -> tuple[Ending, Ending | None]:
    """One search: as it stood after discovery, and after confirmation if it goes there."""
    notebook = Notebook(world, BUDGET)
    params = settings(world, contender, seed)
    shown = Reproduction(None, "", Unit.SESSION, Tally(), Tally())
    if not contender.told:
        shown = reproduce(notebook, SPACE, params)
        params = held_to(params, shown.unit, world.batch_sessions)
    if shown.verdict is not None:
        said = shown.verdict in (Verdict.NOT_REPRODUCED, Verdict.NOT_CONTROLLED)
        stopped = Ending(notebook.spent, decided=said, wrong=said)
        return stopped, stopped
    found = contender.method(notebook, SPACE, params, shown.unit, lambda belief: None)
    ending = judged(world, found.culprits, notebook.spent)
    if contender.told:
        return ending, None
    return ending, confirmed(notebook, world, params, shown, found) if found.culprits else ending


def settings(world: SimulatedWorld, contender: Contender, seed: int) -> Parameters:
    """A contender's parameters: both rates for those that are told, neither for the others.

    Where there is no background the checker is exact, and known to be, unless a contender's own
    settings leave that open.
    """
    params = Parameters(budget=BUDGET, seed=seed, exact=world.p0 == 0)
    if contender.told:
        params = replace(params, told=world.p1, p_tol=world.p0)
    return replace(params, **contender.settings)


def confirmed(
    notebook: Notebook,
    world: SimulatedWorld,
    params: Parameters,
    shown: Reproduction,
    found: Discovery,
) -> Ending:
    """The same search at the end of phase 2; what it refutes is not sought again here."""
    end = confirm(notebook, SPACE, params, shown.unit, found, shown.bad)
    culprits = end.culprits if end.verdict is Verdict.CONFIRMED and not end.refuted else None
    return judged(world, culprits, notebook.spent)


def judged(world: SimulatedWorld, said: Sequence[str] | None, spent: int) -> Ending:
    """What was said against what is so."""
    wrong = said is not None and frozenset(said) != world.culprits
    return Ending(spent, decided=said is not None, wrong=wrong)


def summary(endings: Sequence[Ending]) -> Summary:
    """Mean, and the smallest number of sessions that 95 % of the worlds do not exceed."""
    spent = [ending.spent for ending in endings]
    return Summary(
        worlds=len(endings),
        mean=round(float(np.mean(spent)), 1),
        p95=int(np.percentile(spent, 95, method="inverted_cdf")),
        wrong=round(100 * float(np.mean([ending.wrong for ending in endings])), 2),
        undecided=round(100 * float(np.mean([not ending.decided for ending in endings])), 2),
    )


def document(cells: Sequence[Cell], seed: int) -> dict[str, Any]:
    """The tables as one JSON document."""
    return {"toggles": len(TOGGLES), "seed": seed, "cells": [asdict(cell) for cell in cells]}


def _cell(done: Sequence[tuple[Job, Endings]]) -> Cell:
    job = done[0][0]
    rows = []
    for i, each in enumerate(job.group.contenders):
        discovered = [endings[i][0] for _, endings in done]
        later = [end for _, endings in done if (end := endings[i][1]) is not None]
        ends = summary(later) if later else None
        rows.append(Row(each.label, each.told, summary(discovered), ends))
    p0, bound = job.group.p0, sessions_needed(len(TOGGLES), job.k, job.p1, job.group.p0)
    return Cell(job.group.name, job.p1, p0, job.k, round(bound, 1), tuple(rows))

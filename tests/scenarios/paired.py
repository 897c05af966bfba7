"""A defect's shipped file at a size of seconds: the same seed and load on both builds."""

from __future__ import annotations

import functools
from typing import NamedTuple

from engine.defects import catalog
from lab.scenario.loader import capped, load_scenario
from tests.scenarios.whole import ROOT, Ran, run


class Incident(NamedTuple):
    """A file, its size under test, its failing arm, an arm that cures it, an innocent change.

    ``sets`` make the file as small as the test, ``seed`` is one whose few sessions meet the
    trigger. ``moved`` are the counters without which the healthy twin of the failing arm proves
    nothing; ``healthy`` is what makes a twin where a healthy build refuses the arm itself.
    """

    name: str
    sessions: int
    bad: str
    cure: str
    innocent: str = ""
    seed: int = 0
    sets: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    healthy: tuple[str, ...] = ()

    @property
    def evidence(self) -> set[str]:
        """The violations and faults by which the defect is named."""
        return {*catalog()[self.name].evidence}


@functools.lru_cache(maxsize=16)
def ran(of: Incident, arm: str, *sets: str, seed: int | None = None) -> Ran:
    """An arm at test size; equal arguments run once."""
    file = load_scenario(ROOT / "incidents" / f"{of.name}.yaml", [*of.sets, *sets])
    return Ran(*run(capped(file, of.sessions), arm, of.seed if seed is None else seed))


def healthy(of: Incident, seed: int | None = None) -> Ran:
    """The failing arm on the same load without the defect."""
    return ran(of, of.bad, "build=[]", *of.healthy, seed=seed)


@functools.lru_cache(maxsize=4)
def shipped(name: str, arm: str, seed: int = 0) -> Ran:
    """An arm of `scenarios/NAME.yaml`, as large as its file says."""
    return Ran(*run(load_scenario(ROOT / f"{name}.yaml"), arm, seed))

"""Searches of simulated worlds, for the tests of the methods that think in bad and good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from lab.bisect.conclusion import Belief, Discovery
from lab.bisect.notebook import Notebook, Phase
from lab.bisect.parameters import Parameters
from lab.bisect.space import Space
from lab.bisect.trials import Unit
from lab.bisect.worlds import SimulatedWorld

Minimise = Callable[..., Discovery]
TOGGLES = tuple("abcdefghij")
CERTAIN = Parameters(told=1.0)  # one unit a probe is enough


class Search:
    """One search and what it left behind."""

    def __init__(
        self,
        method: Minimise,
        world: SimulatedWorld,
        params: Parameters = CERTAIN,
        needs: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self.notebook = Notebook(world, params.budget)
        self.beliefs: list[Belief] = []
        self.space = Space(world.toggles, needs or {})
        self.found = method(self.notebook, self.space, params, Unit.SESSION, self.beliefs.append)

    @property
    def culprits(self) -> frozenset[str] | None:
        """What it found, in no order."""
        return None if self.found.culprits is None else frozenset(self.found.culprits)

    @property
    def probes(self) -> int:
        """Configurations that were asked for, each once."""
        asked = [probe.config for probe in self.notebook.probes]
        assert all(probe.phase is Phase.DISCOVER for probe in self.notebook.probes)
        return len(dict.fromkeys(asked))


def certain(toggles: int, *culprits: str, **more: object) -> SimulatedWorld:
    """A world without chance: corrupt where the culprits are bad, clean elsewhere."""
    world = SimulatedWorld(TOGGLES[:toggles], frozenset(culprits), p1=1.0)
    return replace(world, **more)  # type: ignore[arg-type]


def subsets(toggles: int, sizes: range) -> Iterator[tuple[str, ...]]:
    """Every set of so many of the first toggles."""
    for size in sizes:
        yield from combinations(TOGGLES[:toggles], size)


def wrong(method: Minimise, p1: float, k: int, worlds: int, params: Parameters) -> int:
    """Of so many seeded worlds with ``k`` culprits, those whose culprits are not found."""
    some = list(combinations(TOGGLES, k))
    missed = 0
    for seed in range(worlds):
        culprits = frozenset(some[seed * 7 % len(some)])
        world = SimulatedWorld(TOGGLES, culprits, p1=p1, seed=seed)
        missed += Search(method, world, params).culprits != culprits
    return missed

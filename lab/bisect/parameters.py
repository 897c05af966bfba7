"""What a bisection is held to. One rule: every bound is here, and is printed with the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

MOST_RATE = 0.99  # a rate of 1 leaves no room for a clean unit


@dataclass(frozen=True)
class Parameters:
    """Errors, rates and sizes of a search; rates are per unit.

    ``alpha`` bounds each phase's error, ``p_min`` is the smallest rate sought, ``p_tol`` the most
    that the background may have. A culprit has at most ``most`` toggles, a probe of discovery asks
    for at most ``batch`` units. ``exact``: the checker never errs, so the background is zero.
    ``attenuation``: innocent toggles may lower a culprit's rate. ``budget`` is in sessions.
    ``told`` is the culprit's rate where it is known beforehand (benchmarks alone).
    ``unit``: ``session``, ``boot``, or ``auto`` for boots where the sessions of a boot correlate.
    ``seed`` chooses among configurations that tell equally much. ``outcome``: ``corrupt`` sessions
    are sought, or ``wedged`` ones: a boot wedges as a whole; ``violated`` ones are corrupt, or a
    broken invariant concerns them. ``sessions`` are those of a unit by whose number a rate of
    sessions was scaled to that of units; `units.held_to` sets it.
    """

    alpha: float = 0.01
    p_min: float = 0.02
    p_tol: float = 0.01
    most: int = 3
    batch: int = 10
    enough: int = 5  # corrupt units that reproduce
    exact: bool = True
    attenuation: bool = True
    budget: int = 2000
    unit: str = "auto"
    told: float | None = None
    seed: int = 0
    outcome: str = "corrupt"
    sessions: int = 1

    @property
    def clean_units(self) -> int:
        """Clean units that exclude a rate of ``p_min`` at 1 - ``alpha``: 228 by default."""
        return ceil(log(self.alpha) / log(1 - self.p_min))

    def sought(self, rate: float) -> float:
        """The culprit's rate as tests reckon with it: what was seen, within what is sought."""
        return min(max(rate, self.p_min), MOST_RATE)

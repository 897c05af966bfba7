"""What counts as one observation. One rule: sessions of a boot are independent only once shown.

Sessions that one boot served may share what went wrong in it. Counted one by one they then promise
more than they show, and the search names wrong toggles. A boot counted as one, corrupt or not, is
always honest, and costs little: a boot is the least that can be run, and where the background is
zero a clean boot weighs the same either way, (1 - p) to the number of its sessions.

So few boots cannot earn sessions as a unit: a correlation of .2 is hardly seen in six boots, and
not to see it proves nothing. What must be shown is that the *design effect*, the variance of the
number of corrupt sessions a boot over that of independent ones, is at most `MOST_EFFECT`.

A rate of sessions becomes a rate of boots by what is assumed of the sessions of a boot. Where the
rate must not be missed they are taken to correlate by `WORST`: the more they do, the fewer boots
show it. Where it must not be exceeded they are taken to be independent.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from lab.bisect.trials import Unit
from lab.stats import boot_correlation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Space

MOST_EFFECT = 1.5  # the variance may be this much larger than that of independent sessions
LEAST_CORRUPT = 20  # fewer corrupt sessions cannot show whether they come together
WORST = 0.2  # the correlation of a boot's sessions up to which a rate of sessions is not missed
CORRELATED = 0.05  # a correlation at this level is one


def choose(notebook: Notebook, space: Space, params: Parameters) -> Unit:
    """The unit that was asked for; for ``auto`` what the trials with every toggle bad allow."""
    if params.unit != "auto":
        return Unit(params.unit)
    if notebook.world.batch_sessions == 1:
        return Unit.SESSION
    seen = [trial for trial in notebook.trials(space.suspect) if trial.counted]
    return Unit.SESSION if independent([(t.corrupt, t.sessions) for t in seen]) else Unit.BOOT


def first(params: Parameters, batch_sessions: int) -> Unit:
    """The unit before anything has been seen."""
    if params.unit != "auto":
        return Unit(params.unit)
    return Unit.SESSION if batch_sessions == 1 else Unit.BOOT


def held_to(params: Parameters, unit: Unit, batch_sessions: int) -> Parameters:
    """The parameters for this unit; a rate a session becomes that of a boot, for ``auto``.

    ``p_min`` becomes the rate of boots at a correlation of `WORST`: at 2 % of 8 sessions 9 %, of 24
    sessions 15 %. An exact checker needs no ``p_tol``, which stays as it is; else it is the most
    that it can be of boots. A boot wedges as a whole, so then its rates are those of its sessions.
    Who asks for boots by name gives rates of boots.
    """
    if params.unit != "auto" or unit is Unit.SESSION or params.outcome == "wedged":
        return replace(params, unit=unit.value)
    p_tol = params.p_tol if params.exact else 1 - (1 - params.p_tol) ** batch_sessions
    return replace(
        params,
        unit=unit.value,
        p_min=boot_rate(params.p_min, batch_sessions),
        p_tol=p_tol,
        sessions=batch_sessions,
    )


def boot_rate(rate: float, sessions: int, correlation: float = WORST) -> float:
    """How many boots of so many sessions are corrupt, at this rate of sessions.

    Every boot draws its own rate from a Beta distribution, as in `worlds.SimulatedWorld`.
    """
    spread = 1 / correlation - 1
    clean = prod(1 - rate * spread / (spread + i) for i in range(sessions))
    return 1 - clean


def assumed(params: Parameters, unit: Unit, batch_sessions: int) -> str:
    """What a rate of sessions was scaled by, for whoever reads a rate of boots; else empty."""
    if held_to(params, unit, batch_sessions).sessions == 1:
        return ""
    return (
        f"{100 * params.p_min:g} % of the sessions are"
        f" {100 * boot_rate(params.p_min, batch_sessions):.2g} % of the boots where the sessions of"
        f" a boot correlate by {WORST:g}, the most that is assumed"
    )


def independent(boots: Sequence[tuple[int, int]]) -> bool:
    """Whether (corrupt, sessions) a boot show that the sessions of a boot are independent."""
    corrupt = sum(k for k, _ in boots)
    if corrupt < LEAST_CORRUPT or design_effect(boots) > MOST_EFFECT:
        return False
    return boot_correlation(boots).p_value >= CORRELATED


def design_effect(boots: Sequence[tuple[int, int]], alpha: float = 0.05) -> float:
    """The most that the design effect may be at 1 - ``alpha``; infinite where nothing shows it.

    Pearson's dispersion of the counts about their common rate is the effect times a chi-square of
    one degree less than there are boots (McCullagh & Nelder, Generalized Linear Models, 4.5).
    """
    from scipy.stats import chi2

    sessions = sum(n for _, n in boots)
    rate = sum(k for k, _ in boots) / sessions if sessions else 0.0
    if len(boots) < 2 or rate in (0.0, 1.0):
        return float("inf")
    dispersion = sum((k - n * rate) ** 2 / (n * rate * (1 - rate)) for k, n in boots)
    return float(dispersion / chi2.ppf(alpha, len(boots) - 1))

"""What every toggle of the space has to do with it, once the culprits are confirmed or not.

One rule: a role is said only where the trials tell it; else the toggle is NOT SEPARABLE.

Culprits have the role that confirmation gave them. Another toggle is AGGRAVATING if, among the
configurations that contain all culprits, more is corrupt where it is bad, and something where it is
good. Configurations were chosen one by one and toggles go bad together, so whoever was found first
is held fixed when the next is tested: a bystander of an aggravating toggle is not blamed for it.
What is tested followed from what was seen, so the level of these tests is nominal.

A toggle is INNOCENT if it is not needed: the culprits suffice without it, they were seen with it
bad and with it good, and it does not aggravate by that test. It may change the rate for all that:
where a change by `UNLIKE` is not excluded, a sentence says so, with how often it was seen good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.bisect.conclusion import Role
from lab.bisect.trials import Tally
from lab.stats import holm, sequence

if TYPE_CHECKING:
    from lab.bisect.conclusion import Discovery
    from lab.bisect.notebook import Notebook
    from lab.bisect.space import Config
    from lab.bisect.trials import Unit

Seen = Mapping["Config", Tally]
UNLIKE = 3  # so many times the rate is another rate
OPEN = "not excluded by n = "  # how a sentence begins that tells what was seen too seldom


@dataclass(frozen=True)
class Roles:
    """A role for every toggle, and sentences about what was not expected."""

    roles: dict[str, Role]
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """What confirmation says of the culprits as a set."""

    sufficient: bool | None
    confirmed: bool
    alpha: float
    unit: str = "unit"


def roles_of(
    seen: Seen,
    toggles: Sequence[str],
    discovery: Discovery,
    decided: Mapping[str, Role],
    known: Known,
) -> Roles:
    """``decided`` are the culprits' roles; of the rest those that aggravate, then the innocent."""
    tested = [key for key in discovery.context if key not in decided]
    raising = [key for key, role in decided.items() if role is Role.AGGRAVATING]
    found, others = aggravating(seen, tested, known.alpha, raising)
    rivals = set() if known.confirmed else {key for some in discovery.candidates for key in some}
    innocent = {
        key: Role.INNOCENT
        for key in tested
        if known.sufficient and key not in rivals and key not in found and _both_ways(seen, key)
    }
    told = {**innocent, **found, **decided}
    roles = {key: told.get(key, Role.NOT_SEPARABLE) for key in toggles}
    return Roles(roles, (*others, *unlike(seen, list(innocent), known.alpha, known.unit)))


def unlike(
    seen: Seen, innocent: Sequence[str], alpha: float, unit: str = "unit"
) -> tuple[str, ...]:
    """Which innocent toggles may raise the rate much; by bounds that share alpha."""
    each = alpha / max(1, 2 * len(innocent))
    may = [key for key in innocent if _ratio(seen, key, each) >= UNLIKE]
    if not may:
        return ()
    times = sorted(_summed(seen, key, bad=False).units for key in may)
    n = f"{times[0]}" if times[0] == times[-1] else f"{times[0]} to {times[-1]}"
    what = f"that one of these raises the rate {UNLIKE} times or more"
    return (f"{OPEN}{n} {unit}s with it good: {what}: {', '.join(may)}",)


def _ratio(seen: Seen, key: str, alpha: float) -> float:
    """The most that the rate with ``key`` bad is of the rate with it good."""
    bad, good = _summed(seen, key, bad=True), _summed(seen, key, bad=False)
    low = sequence(good.corrupt, good.units, alpha)[0]
    return sequence(bad.corrupt, bad.units, alpha)[1] / low if low else float("inf")


def _both_ways(seen: Seen, key: str) -> bool:
    """Whether it was seen bad and good beside all culprits."""
    return all(_summed(seen, key, bad=bad).units for bad in (True, False))


def containing(
    notebook: Notebook, unit: Unit, keys: Sequence[str], within: Sequence[str]
) -> dict[Config, Tally]:
    """What was seen, in any phase, with all these culprits bad and nothing outside the context."""
    culprits, context = frozenset(keys), frozenset(within)
    configs = dict.fromkeys(probe.config for probe in notebook.probes)
    return {
        config: notebook.tally(config, unit)
        for config in configs
        if culprits <= config.bad <= context and not config.levels
    }


def aggravating(
    seen: Seen, toggles: Sequence[str], alpha: float, raising: Sequence[str] = ()
) -> tuple[dict[str, Role], tuple[str, ...]]:
    """Toggles that raise the rate, strongest first; those that none tells apart are not separable.

    ``raising`` are known to. A toggle without which nothing is corrupt at all may be a culprit that
    was missed: a sentence.
    """
    roles: dict[str, Role] = {}
    others: list[str] = []
    fixed = list(raising)
    left = list(toggles)
    while left:
        p_values = [raises(seen, key, fixed) for key in left]
        if len(left) * min(p_values) >= alpha:  # Holm's first step, without loading statsmodels
            break
        adjusted = dict(zip(left, holm(p_values), strict=True))
        best = left[int(np.argmin(p_values))]
        alike = [
            key
            for key in left
            if key != best and adjusted[key] < alpha and _tied(seen, best, key, fixed, alpha)
        ]
        good = _summed(seen, best, bad=False)
        if good.corrupt == 0:
            others.append(
                f"{best} may be a culprit too: 0 of {good.units} are corrupt where it is good"
            )
        certain = not alike and good.corrupt > 0
        roles[best] = Role.AGGRAVATING if certain else Role.NOT_SEPARABLE
        roles.update(dict.fromkeys(alike, Role.NOT_SEPARABLE))
        fixed.append(best)
        left = [key for key in left if key not in roles]
    return roles, tuple(others)


def raises(seen: Seen, key: str, fixed: Sequence[str] = ()) -> float:
    """One-sided p that the rate is higher with ``key`` bad: Fisher's exact test.

    With ``fixed`` toggles the test is stratified by them: the sum over the strata, given every
    stratum's margins (Gart 1970). 1.0 where no stratum has both.
    """
    from scipy.stats import hypergeom

    chances, observed = np.ones(1), 0
    for stratum in _strata(seen, fixed):
        bad, good = _summed(stratum, key, bad=True), _summed(stratum, key, bad=False)
        corrupt, units = bad.corrupt + good.corrupt, bad.units + good.units
        if units:
            counts = np.arange(min(corrupt, bad.units) + 1)
            chances = np.convolve(chances, hypergeom.pmf(counts, units, corrupt, bad.units))
            observed += bad.corrupt
    return min(1.0, float(chances[observed:].sum()))


def _tied(seen: Seen, one: str, other: str, fixed: Sequence[str], alpha: float) -> bool:
    """Whether neither shows anything with the other held fixed."""
    return (
        raises(seen, one, [*fixed, other]) >= alpha and raises(seen, other, [*fixed, one]) >= alpha
    )


def _strata(seen: Seen, fixed: Sequence[str]) -> list[dict[Config, Tally]]:
    strata: dict[tuple[bool, ...], dict[Config, Tally]] = {}
    for config, counts in seen.items():
        strata.setdefault(tuple(key in config.bad for key in fixed), {})[config] = counts
    return list(strata.values())


def _summed(seen: Seen, key: str, *, bad: bool) -> Tally:
    return sum((counts for config, counts in seen.items() if (key in config.bad) is bad), Tally())

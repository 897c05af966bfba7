"""Rates with a toggle bad and with it good, and with the culprits bad and not, of all that was run.

One rule: like is compared with like. Of a toggle only those configurations count in which the
other culprits are bad; where the culprits were sought within a context, nothing outside is bad.

All phases count, so these are descriptions: what was asked followed from what had been seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.bisect.trials import Tally, Unit, tally

if TYPE_CHECKING:
    from lab.bisect.conclusion import Conclusion
    from lab.bisect.notebook import Probe
    from lab.bisect.space import Space


@dataclass(frozen=True)
class Contrast:
    """The same units, apart by whether something is bad."""

    bad: Tally
    good: Tally


def together(probes: Sequence[Probe], found: Conclusion) -> Contrast:
    """With every culprit bad, and with one of them good; both empty where there is no culprit."""
    within = asked(probes, found) if found.culprits else []
    return _apart(within, frozenset(found.culprits).issubset, found.unit)


def contrasts(probes: Sequence[Probe], found: Conclusion, space: Space) -> dict[str, Contrast]:
    """Of each toggle: with it bad, and with it good and whatever needs it."""
    within, culprits = asked(probes, found), space.mask(found.culprits)
    return {
        key: _apart(
            [it for it in within if it.config.bad.issuperset(_others(it, key, space, culprits))],
            lambda bad, key=key: key in bad,  # type: ignore[misc]
            found.unit,
        )
        for key in space.toggles
    }


def _others(probe: Probe, key: str, space: Space, culprits: int) -> Sequence[str]:
    """The culprits that have to be bad besides ``key``."""
    return space.keys(culprits if key in probe.config.bad else space.without(culprits, key))


def asked(probes: Sequence[Probe], found: Conclusion) -> list[Probe]:
    """The probes within the context, but those with a knob between good and bad.

    What is outside the context may have a cause of its own, and is no evidence for this one.
    """
    context = frozenset([*found.culprits, *found.context])
    return [
        probe
        for probe in probes
        if not probe.config.levels and (not context or probe.config.bad <= context)
    ]


def _apart(probes: Sequence[Probe], bad: Callable[[frozenset[str]], bool], unit: Unit) -> Contrast:
    sides: dict[bool, Tally] = {True: Tally(), False: Tally()}
    for probe in probes:
        sides[bad(probe.config.bad)] += tally(probe.outcome, unit)
    return Contrast(sides[True], sides[False])

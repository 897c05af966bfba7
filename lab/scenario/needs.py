"""Which toggles a toggle needs to be bad. One rule: what has no effect is not called bad.

A file's `constraints` say so, and so do the toggles themselves: with no host tier there is no order
in its pages. The latter counts only where the file offers the switch itself, and one switch alone
can turn the effect on: where either of two can, no single one is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.scenario.models import Scenario


def needs(scenario: Scenario) -> dict[str, frozenset[str]]:
    """For each toggle that needs any, those that it needs: the file's word and the registry's."""
    found = {
        key: frozenset(scenario.constraints.get(key, ())) | _switches(scenario, key)
        for key in scenario.toggles
    }
    return {key: needed for key, needed in found.items() if needed}


def idle(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """The toggles without effect where every toggle is bad, with the switches that are off."""
    if not scenario.ends:
        return {}
    settings = scenario.settings(scenario.ends[0])
    every = {key: scenario.known[key].needs for key in scenario.toggles}
    return {
        key: switches
        for key, switches in every.items()
        if switches and not any(settings.get(switch) for switch in switches)
    }


def cycle(needed: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The first circle of toggles that need each other, its first one repeated at the end."""
    for start in needed:
        trails: list[tuple[str, ...]] = [(start,)]
        seen: set[str] = set()
        while trails:
            trail = trails.pop()
            for key in sorted(needed.get(trail[-1], ())):
                if key == start:
                    return (*trail, key)
                if key not in seen:
                    seen.add(key)
                    trails.append((*trail, key))
    return ()


def _switches(scenario: Scenario, key: str) -> frozenset[str]:
    """The switch on offer without which the toggle has no effect."""
    bad, good = (scenario.settings(arm) for arm in scenario.ends)
    on = [switch for switch in scenario.known[key].needs if bad.get(switch) or good.get(switch)]
    if len(on) == 1 and on[0] in scenario.toggles and bad[on[0]] and not good[on[0]]:
        return frozenset(on)
    return frozenset()

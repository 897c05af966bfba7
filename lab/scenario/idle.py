"""What a scenario gives in vain: settings that change nothing, and a load that its target cannot
follow. One rule: it is noted, not refused.

Only what the file or an option gave is told of; a default is nobody's intention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.scenario.placed import placed
from lab.workloads import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.scenario.models import Arm, Scenario


def without_effect(scenario: Scenario) -> list[str]:
    """``hicache_write, host_ratio have no effect: hicache is off``, and the same by arm.

    What the engine's settings give has an effect if it has one in some arm that leaves it as it is,
    be it one of a bisection or of a sweep.
    """
    everywhere = _off(scenario.engine, scenario, [one.arm for one in placed(scenario)])
    said = [_told(keys, needs) for needs, keys in everywhere.items()]
    for arm in scenario.arms:
        own = _off(arm.overrides, scenario, [arm])
        said += [f"arm {arm.name!r}: {_told(keys, needs)}" for needs, keys in own.items()]
    return said + _not_followed(scenario)


def _not_followed(scenario: Scenario) -> list[str]:
    """Of a server that is not known to be ours: that its model will not answer as ours does."""
    target, load = scenario.target, scenario.workload
    if target.takes_build or resolve(load.kind, load.preset, load.options).beyond_bundled():
        return []
    what = "its manuals are followed by the bundled model alone, and any other's replies are wrong"
    return [f"workload {load.kind}: {what}; `form: natural` of tool_tasks asks any model"]


def _off(
    given: Iterable[str], scenario: Scenario, arms: Iterable[Arm]
) -> dict[tuple[str, ...], list[str]]:
    """The keys of ``given`` that lack what they need in every one of the arms, by what it is."""
    settings = [scenario.settings(arm) for arm in arms]
    found: dict[tuple[str, ...], list[str]] = {}
    for key in given:
        needs = scenario.known[key].needs
        if needs and not any(values.get(switch) for values in settings for switch in needs):
            found.setdefault(needs, []).append(key)
    return found


def _told(keys: list[str], needs: tuple[str, ...]) -> str:
    have = "have" if len(keys) > 1 else "has"
    are = "are" if len(needs) > 1 else "is"
    return f"{', '.join(keys)} {have} no effect: {' and '.join(needs)} {are} off"

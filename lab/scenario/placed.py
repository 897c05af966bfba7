"""Every arm that a file can make, and where each of its settings is written.

One rule: what bisection and a sweep would run is checked like the arms that are spelled out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.scenario.models import Arm

if TYPE_CHECKING:
    from lab.scenario.models import Scenario
    from lab.scenario.problem import Path


@dataclass(frozen=True)
class Placed:
    """An arm, the place that asks for it, and the place of each setting of its own."""

    arm: Arm
    place: Path
    own: Mapping[str, Path] = field(default_factory=dict)


def placed(scenario: Scenario) -> Iterator[Placed]:
    """The arms, the two ends of a bisection, the values of a sweep."""
    for index, arm in enumerate(scenario.arms):
        place = ("arms", index)
        yield Placed(arm, place, {key: (*place, key) for key in arm.overrides})
    for end, side in zip(scenario.ends, ("bad", "good"), strict=False):
        yield Placed(end, ("toggles",), {key: ("toggles", key, side) for key in end.overrides})
    for key, values in scenario.sweep.items():
        for index, value in enumerate(values):
            arm = Arm(name=f"{key} {value}", overrides={key: value})
            yield Placed(arm, ("sweep", key, index), {key: ("sweep", key, index)})

"""What a scenario offers to a search. One rule: what a level cannot be is never a level.

The needs are the file's `constraints` and the toggles' own (`lab.scenario.needs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from lab.bisect.ladder import ladder
from lab.bisect.space import Space
from lab.scenario.campaign import numeric
from lab.scenario.models import Arm
from lab.scenario.needs import needs

if TYPE_CHECKING:
    from lab.bisect.space import Config
    from lab.scenario.models import Flip, Scenario
    from lab.toggles.registry import Toggle

Levels = tuple[Any, ...]


def space_of(scenario: Scenario) -> Space:
    """The toggles in the file's order, what they need, and how likely each is to blame."""
    return Space(tuple(scenario.toggles), needs(scenario), dict(scenario.bisect.weights))


def ladders_of(scenario: Scenario) -> dict[str, Levels]:
    """For each number among the toggles its levels from good to bad, ends included.

    They are the file's, or equal factors apart. A toggle with an end at a 0 that is no amount has
    levels only where the file gives some.
    """
    made = {
        key: _ladder(scenario.known[key], flip, scenario.bisect.ladders.get(key, ()))
        for key, flip in scenario.toggles.items()
        if numeric(scenario.known[key])
    }
    return {key: levels for key, levels in made.items() if levels}


def arm_of(scenario: Scenario, config: Config, name: str = "trial") -> Arm:
    """The arm that a configuration is: each toggle bad or good, or at its level if it has one."""
    overrides = {
        key: flip.bad if key in config.bad else flip.good for key, flip in scenario.toggles.items()
    }
    return Arm(name=name, overrides={**overrides, **dict(config.levels)})


def _ladder(toggle: Toggle, flip: Flip, asked: Sequence[Any]) -> Levels:
    if toggle.zero and 0 in (flip.bad, flip.good):
        return _from_amount(flip, asked) if asked else ()
    if asked:
        return tuple(sorted({flip.good, flip.bad, *asked}, reverse=flip.bad < flip.good))
    domain = toggle.domain
    inner = [_snapped(level, domain.step) for level in ladder(flip.good, flip.bad)[1:-1]]
    between = [it for it in inner if _accepted(it, domain.type) and it not in (flip.good, flip.bad)]
    return flip.good, *dict.fromkeys(between), flip.bad


def _from_amount(flip: Flip, asked: Sequence[Any]) -> Levels:
    """The levels in the order of their distance from the end that is an amount."""
    amount = flip.bad or flip.good
    inner = [level for level in asked if level not in (flip.bad, flip.good)]
    inner.sort(key=lambda level: abs(log(level / amount)), reverse=amount == flip.bad)
    return flip.good, *inner, flip.bad


def _snapped(level: Any, step: int) -> Any:
    return round(level / step) * step if step > 1 else level


def _accepted(level: Any, kind: Any) -> bool:
    """Whether the toggle can be set so: some numbers are one of a few."""
    try:
        TypeAdapter(kind).validate_python(level)
    except ValidationError:
        return False
    return True

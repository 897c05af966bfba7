"""What a file can get wrong about bisection and sweeps. One rule: a check yields, it never raises.

A key that no toggle has is not for these: the shape of the file refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lab.bisect.parameters import Parameters
from lab.bisect.space import MOST_TOGGLES
from lab.scenario.campaign import numeric
from lab.scenario.models import Search
from lab.scenario.needs import cycle, idle, needs
from lab.scenario.problem import MISSING, Path, Problem, spell

if TYPE_CHECKING:
    from lab.scenario.models import Scenario


def check_search(scenario: Scenario) -> Iterator[Problem]:
    """Every mistake in `toggles`, `constraints`, `bisect` and `sweep`."""
    yield from _there(scenario)
    yield from _flips(scenario)
    yield from _constraints(scenario)
    yield from _rates(scenario)
    yield from _weights(scenario)
    yield from _ladders(scenario)
    yield from _sweep(scenario)


def _there(scenario: Scenario) -> Iterator[Problem]:
    if not scenario.toggles and (scenario.constraints or scenario.bisect != Search()):
        yield Problem(("toggles",), MISSING, "the toggles that bisection may flip, bad -> good")
    elif not (scenario.arms or scenario.toggles or scenario.sweep):
        accepted = "arms to run, or toggles to bisect, or a sweep"
        yield Problem(("arms",), MISSING, accepted)


def _flips(scenario: Scenario) -> Iterator[Problem]:
    for key, flip in scenario.toggles.items():
        if flip.bad == flip.good:
            what = f"bad and good are both {spell(flip.bad)}; a toggle flips between two values"
            yield Problem(("toggles", key), what)
    for key, switches in idle(scenario).items():
        off = f"{' and '.join(switches)} {'are' if len(switches) > 1 else 'is'} off"
        what = f"has no effect where every toggle is bad: {off} there"
        yield Problem(("toggles", key), what, " or ".join(f"{one}: true" for one in switches))
    if len(scenario.toggles) > MOST_TOGGLES:
        what = f"{len(scenario.toggles)} toggles are too many to bisect"
        yield Problem(("toggles", list(scenario.toggles)[MOST_TOGGLES]), what, f"{MOST_TOGGLES}")


def _constraints(scenario: Scenario) -> Iterator[Problem]:
    for key, needed in scenario.constraints.items():
        place = ("constraints", key)
        yield from _offered(scenario, place, key)
        if not needed:
            yield Problem(place, "names no toggle that it needs", "a toggle: its bad value")
        for other, value in needed.items():
            yield from _offered(scenario, (*place, other), other)
            flip = scenario.toggles.get(other)
            if flip is not None and value != flip.bad:
                what = f"{spell(value)} is not the bad value of {other}"
                yield Problem((*place, other), what, spell(flip.bad))
    if circle := cycle(needs(scenario)):
        said = [key for key in circle if key in scenario.constraints]
        at: Path = ("constraints", *said[:1])
        yield Problem(at, f"a circle, so that none can ever be bad: {' needs '.join(circle)}")


def _rates(scenario: Scenario) -> Iterator[Problem]:
    """Whether the rate sought lies above the one that the background may have."""
    asked, default = scenario.bisect, Parameters()
    least = default.p_min if asked.p_min is None else asked.p_min
    most = default.p_tol if asked.p_tol is None else asked.p_tol
    if least <= most:
        key = "p_tol" if asked.p_min is None else "p_min"
        what = f"the smallest rate sought is {least}, and the background may have {most}"
        yield Problem(("bisect", key), what, "p_min above p_tol")


def _weights(scenario: Scenario) -> Iterator[Problem]:
    for key in scenario.bisect.weights:
        yield from _offered(scenario, ("bisect", "weights", key), key)


def _ladders(scenario: Scenario) -> Iterator[Problem]:
    for key, values in scenario.bisect.ladders.items():
        place = ("bisect", "ladders", key)
        yield from _offered(scenario, place, key)
        yield from _values(scenario, place, key, values)
        low, high = _scale(scenario, key)
        for index, value in enumerate(values):
            if numeric(scenario.known[key]) and not low <= value <= high:
                what = f"{spell(value)} does not lie between good and bad"
                yield Problem((*place, index), what, f"from {spell(low)} to {spell(high)}")


def _scale(scenario: Scenario, key: str) -> tuple[Any, Any]:
    """The least and the greatest level of a number; no bounds where 0 is no amount."""
    flip = scenario.toggles.get(key)
    if flip is None or (scenario.known[key].zero and 0 in (flip.bad, flip.good)):
        return float("-inf"), float("inf")
    low, high = sorted((flip.bad, flip.good))
    return low, high


def _sweep(scenario: Scenario) -> Iterator[Problem]:
    for index, (key, values) in enumerate(scenario.sweep.items()):
        if index:
            what = f"a sweep turns one knob, and {next(iter(scenario.sweep))} is one already"
            yield Problem(("sweep", key), what)
        yield from _values(scenario, ("sweep", key), key, values)
        if len(values) == 1:
            yield Problem(("sweep", key), "one value is no sweep", "a list of at least 2")


def _values(scenario: Scenario, place: Path, key: str, values: Sequence[Any]) -> Iterator[Problem]:
    """Whether a ladder is one: numbers, each once."""
    if not numeric(scenario.known[key]):
        accepted = ", ".join(other for other, t in scenario.known.items() if numeric(t))
        yield Problem(place, "is not a number, so no value lies between others", accepted)
    for index, value in enumerate(values):
        if value in values[:index]:
            yield Problem((*place, index), f"{spell(value)} is in the list twice")


def _offered(scenario: Scenario, place: Path, key: str) -> Iterator[Problem]:
    """Whether the toggle is one that the file lets bisection flip."""
    if key not in scenario.toggles and scenario.toggles:
        offered = tuple(scenario.toggles)
        yield Problem(place, "is not on offer in `toggles`", ", ".join(offered), key, offered)

"""The arms of `kvlab sweep`: one numeric knob at every level of a ladder.

One rule: a sweep is a scenario like any other; its arms are the levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.bisect.ladder import ladder
from lab.errors import ScenarioError
from lab.scenario.document import Patch
from lab.scenario.loader import parse_scenario
from lab.scenario.patches import value_of
from lab.scenario.problem import did_you_mean

if TYPE_CHECKING:
    from lab.scenario.models import Scenario

ACCEPTED = "KEY=V1,V2,..., or KEY=LOW..HIGH"
RANGE = ".."
LARGEST = 1e15  # what floats still count one by one
MOST = 64  # levels: every one is an arm


def swept(scenario: Scenario, toggle: str | None) -> Scenario:
    """The scenario with one arm a level: of ``KEY=V1,V2,...``, ``KEY=LOW..HIGH``, or its own.

    Raises `ScenarioError` where there is no ladder, or its levels cannot be run here.
    """
    if toggle is None:
        if not scenario.sweep:
            what = f"has no `sweep`; --toggle {ACCEPTED} names one"
            raise ScenarioError(f"{scenario.path}: {what}")
        ((key, own),) = scenario.sweep.items()
        return _with(scenario, key, list(own), "sweep")
    key, levels = _asked(scenario, toggle)
    return _with(scenario, key, levels, f"--toggle {toggle}")


def _asked(scenario: Scenario, toggle: str) -> tuple[str, list[Any]]:
    """The knob and its levels as typed."""
    key, equals, text = toggle.partition("=")
    if not equals or not text.strip():
        raise ScenarioError(f"--toggle {toggle}: not a ladder; accepted: {ACCEPTED}")
    if key not in scenario.known:
        accepted, hint = ", ".join(scenario.known), did_you_mean(key, scenario.known)
        raise ScenarioError(f"--toggle {toggle}: unknown key {key!r}; accepted: {accepted}{hint}")
    parts = text.split(RANGE) if RANGE in text else text.split(",")
    levels = [value_of(part, f"--toggle {toggle}") for part in parts]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in levels):
        what = "a ladder is of numbers; `kvlab ab` compares two values of any toggle"
        raise ScenarioError(f"--toggle {toggle}: {what}")
    if not all(abs(one) <= LARGEST for one in levels):  # nor is what is no number within it
        what = f"levels are numbers of at most {LARGEST:g}"
        raise ScenarioError(f"--toggle {toggle}: not a ladder; {what}")
    if RANGE in text:
        levels = list(ladder(*levels)) if len(levels) == 2 and levels[0] != levels[1] else []
    if len(set(levels)) != len(levels) or not 2 <= len(levels) <= MOST:
        what = f"levels that differ, two at least and {MOST} at most"
        raise ScenarioError(f"--toggle {toggle}: not a ladder; accepted: {ACCEPTED}, {what}")
    return key, levels


def _with(scenario: Scenario, key: str, levels: list[Any], option: str) -> Scenario:
    arms = [{"name": f"{key}={level:g}", key: level} for level in levels]
    patches = [Patch(("arms",), arms, option), Patch(("expect",), {}, option)]
    return parse_scenario(scenario.source, str(scenario.path), patches, here=True)

"""Two arms out of a scenario, for `kvlab ab`. One rule: the pair is a scenario like any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.errors import ScenarioError
from lab.scenario.document import Patch
from lab.scenario.loader import parse_scenario
from lab.scenario.models import EVERY_OTHER_ARM, Arm, Scenario
from lab.scenario.patches import value_of
from lab.scenario.problem import did_you_mean


def pair(scenario: Scenario, names: Sequence[str], toggle: str | None) -> Scenario:
    """The scenario reduced to two arms: named ones, or the two values of ``KEY=A,B``.

    Raises `ScenarioError` where the arms or the toggle are not there, or cannot be run here.
    """
    if toggle is None:
        return _with(scenario, _named(scenario, names), "arms A B")
    if names:
        raise ScenarioError(f"--toggle {toggle}: makes its own arms; leave out {names[0]!r}")
    return _with(scenario, _flipped(scenario, toggle), f"--toggle {toggle}")


def _named(scenario: Scenario, names: Sequence[str]) -> list[dict[str, Any]]:
    known = {arm.name: arm for arm in scenario.arms}
    if not names and len(known) == 2:
        names = tuple(known)
    if not known:
        raise ScenarioError(f"{scenario.path}: has no arms to name; --toggle KEY=A,B makes two")
    accepted = ", ".join(repr(name) for name in known)
    if len(names) != 2 or names[0] == names[1]:
        raise ScenarioError(f"{scenario.path}: name two arms, or --toggle; accepted: {accepted}")
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ScenarioError(f"{scenario.path}: no arm {name!r}; accepted: {accepted}{hint}")
    return [spelled(known[name]) for name in names]


def spelled(arm: Arm) -> dict[str, Any]:
    """The arm as a file spells it."""
    own = {"round": arm.round if arm.round > 1 else None, "sessions": arm.sessions}
    return {"name": arm.name, **{k: v for k, v in own.items() if v is not None}, **arm.overrides}


def _flipped(scenario: Scenario, toggle: str) -> list[dict[str, Any]]:
    key, equals, values = toggle.partition("=")
    first, comma, second = values.partition(",")
    if not (equals and comma and first.strip() and second.strip()):
        raise ScenarioError(f"--toggle {toggle}: not a toggle; accepted: KEY=A,B")
    if key not in scenario.known:
        hint = did_you_mean(key, scenario.known)
        accepted = ", ".join(scenario.known)
        raise ScenarioError(f"--toggle {toggle}: unknown key {key!r}; accepted: {accepted}{hint}")
    sides = [value_of(side, f"--toggle {toggle}") for side in (first, second)]
    if sides[0] == sides[1]:
        raise ScenarioError(f"--toggle {toggle}: both sides are equal")
    texts = (first.strip(), second.strip())
    return [{"name": f"{key}={text}", key: v} for text, v in zip(texts, sides, strict=True)]


def _with(scenario: Scenario, arms: list[dict[str, Any]], option: str) -> Scenario:
    names = [arm["name"] for arm in arms]
    kept = {
        name: wanted.model_dump(mode="json")
        for name, wanted in scenario.expect.items()
        if name in (*names, EVERY_OTHER_ARM) and not option.startswith("--toggle")
    }
    patches = [Patch(("arms",), arms, option), Patch(("expect",), kept, option)]
    return parse_scenario(scenario.source, str(scenario.path), patches, here=True)

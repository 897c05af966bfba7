"""A shipped scenario at test size: the `small` preset, a few sessions, one arm at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.judging import judge_arm
from lab.scenario.loader import capped, load_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

    from lab.records import ArmHistory, ArmVerdict
    from lab.scenario.models import Scenario

ROOT = Path(__file__).parents[2] / "scenarios"
SMALL = ("workload.preset=small", "engine.concurrency=8")


def scenario(name: str, sessions: int, *sets: str) -> Scenario:
    """The file `scenarios/NAME.yaml` over the `small` preset, at most ``sessions`` an arm."""
    return capped(load_scenario(ROOT / f"{name}.yaml", [*SMALL, *sets]), sessions)


def arms(name: str) -> list[str]:
    """The names of a scenario's arms."""
    return [arm.name for arm in load_scenario(ROOT / f"{name}.yaml").arms]


def quick(names: Iterable[str], *short: str) -> list[str | ParameterSet]:
    """Arms as a test's parameters: those in ``short`` run in any case, the others are slow."""
    return [arm if arm in short else pytest.param(arm, marks=pytest.mark.slow) for arm in names]


def run(of: Scenario, arm: str, seed: int = 0) -> tuple[ArmHistory, ArmVerdict]:
    """One arm driven and judged."""
    [found] = [each for each in of.arms if each.name == arm]
    history = run_arm(of, found, seed)
    return history, judge_arm(history, of.expect)[0]

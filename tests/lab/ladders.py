"""Made-up sweeps. One rule: an arm of ``{level: corrupt}`` differs from the others in the level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lab.records import ArmVerdict, RunVerdict
from tests.lab.samples import arm_verdict, history

SESSIONS = 40


def arms(levels: Mapping[float, int], knob: str = "concurrency") -> list[ArmVerdict]:
    """One arm a level with so many corrupt sessions of 40."""
    made = []
    for level, corrupt in levels.items():
        run = history(f"{knob}={level:g}", corrupt=corrupt, sessions=SESSIONS, turns=1)
        run.settings = {**run.settings, knob: level}
        made.append(arm_verdict(run, corrupt=corrupt))
    return made


def unjudged(found: list[ArmVerdict], index: int, verdict: str = "inconclusive") -> None:
    """Arm ``index`` shows neither."""
    found[index] = replace(found[index], verdict=verdict)


def run(levels: Mapping[float, int], knob: str = "concurrency") -> RunVerdict:
    """The arms as a run."""
    return RunVerdict("20261130T000000-cd34", "ladder", 3, 1.0, 2.0, tuple(arms(levels, knob)), ())

"""What a scenario would run, before it is run: arms, boots, sessions, and how long that takes.

One rule: a time is told with where it comes from: what is stored of this scenario, or a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.bisecting.order import Order, least, parameters
from lab.errors import StoreError
from lab.scenario.idle import without_effect
from lab.store import open_results
from lab.targets.boots import boots
from lab.workloads import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lab.scenario.models import Arm, Scenario

GUESS_S = 0.3  # a turn of a session on the bundled engine: two cores of 2026, `small`
BOOT_S = {"kvlab_serve": 3.0}  # from the command to the first request, and its end


@dataclass(frozen=True)
class Pace:
    """Seconds a session, and where that is from; None where nobody can know."""

    seconds: float | None
    source: str

    def minutes(self, sessions: int) -> float | None:
        """For so many sessions."""
        return None if self.seconds is None else sessions * self.seconds / 60


def pace(scenario: Scenario, db: Path) -> Pace:
    """How fast this scenario goes: as what is stored of it did, else as a guess has it."""
    try:
        with open_results(db, create=False) as results:
            stored = results.seconds_a_session(scenario.name)
    except StoreError:
        stored = None
    if stored is not None:
        return Pace(stored, f"as what {db} holds of this scenario took")
    if not scenario.target.takes_build:
        what = f"nothing of it is stored in {db}, and how fast the server is nobody knows"
        return Pace(None, f"{what}; `--sessions 4` first tells")
    seconds = GUESS_S * _turns(scenario)
    return Pace(seconds, f"a guess, {seconds:.1f} s a session: nothing of it is stored in {db}")


def expected(scenario: Scenario, db: Path) -> dict[str, Any]:
    """All of it as one document; raises `UserError`."""
    found = pace(scenario, db)
    return {
        "scenario": scenario.name,
        "about": scenario.about,
        "path": str(scenario.path),
        "target": scenario.target.name,
        "clock": scenario.clock,
        "build": list(scenario.build),
        "workload": {
            "kind": scenario.workload.kind,
            "preset": scenario.workload.preset,
            "turns": _turns(scenario),
            **scenario.workload.options,
        },
        "seconds_a_session": found.seconds,
        "time_from": found.source,
        "run": _run(scenario, found) if scenario.arms else None,
        "bisect": _bisect(scenario, found) if scenario.toggles else None,
        "sweep": _sweep(scenario, found) if scenario.sweep else None,
        "notes": without_effect(scenario),
    }


def _run(scenario: Scenario, found: Pace) -> dict[str, Any]:
    """The arms in the file's order, with the boot that serves each, where one does."""
    launched = scenario.target.profile is not None
    number = {
        arm.name: at
        for at, boot in enumerate(boots(scenario), start=1)
        for arm in boot.arms
        if launched
    }
    differ = varying(scenario, scenario.arms)
    arms = [
        {
            "name": arm.name,
            "sessions": scenario.sessions(arm),
            "boot": number.get(arm.name),
            "settings": {key: scenario.settings(arm)[key] for key in differ},
            "expected": getattr(scenario.expected(arm.name), "verdict", None),
        }
        for arm in scenario.arms
    ]
    sessions = sum(scenario.sessions(arm) for arm in scenario.arms)
    same = {key: value for key, value in scenario.engine.items() if key not in differ}
    return {
        "arms": arms,
        "alike": same,
        **_cost(scenario, found, sessions, len({*number.values()})),
    }


def _bisect(scenario: Scenario, found: Pace) -> dict[str, Any]:
    """The toggles, and how many sessions a search takes: for one clean arm, and at most."""
    params = parameters(scenario, Order())
    fewest = least(params, scenario.workload.sessions)
    return {
        "toggles": {
            key: {"bad": flip.bad, "good": flip.good} for key, flip in scenario.toggles.items()
        },
        "sessions_a_trial": scenario.workload.sessions,
        "outcome": params.outcome,
        "least": fewest,
        "budget": params.budget,
        "minutes_least": found.minutes(fewest),
        "minutes_budget": found.minutes(params.budget),
    }


def _sweep(scenario: Scenario, found: Pace) -> dict[str, Any]:
    ((key, levels),) = scenario.sweep.items()
    applies = scenario.known[key].applies
    launches = scenario.target.profile is not None
    starts = (len(levels) if applies != "load" else 1) if launches else 0
    sessions = len(levels) * scenario.workload.sessions
    return {"toggle": key, "levels": list(levels), **_cost(scenario, found, sessions, starts)}


def varying(scenario: Scenario, arms: Sequence[Arm]) -> list[str]:
    """The settings in which the arms differ, in the order in which they are first set."""
    every = [scenario.settings(arm) for arm in arms]
    keys = dict.fromkeys(key for arm in arms for key in arm.overrides)
    return [key for key in keys if len({repr(values[key]) for values in every}) > 1]


def _cost(scenario: Scenario, found: Pace, sessions: int, starts: int) -> Mapping[str, Any]:
    minutes = found.minutes(sessions)
    own = BOOT_S.get(scenario.target.name)
    if minutes is not None and starts and own is not None:
        minutes += starts * own / 60
    return {"sessions": sessions, "boots": starts, "minutes": minutes and round(minutes, 2)}


def _turns(scenario: Scenario) -> int:
    load = scenario.workload
    return resolve(load.kind, load.preset, load.options).turns

"""A shipped scenario at test size: the `small` preset, a few sessions, one arm at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.copies import stored_geometry
from lab.judging import judge_arm
from lab.scenario.loader import capped, load_scenario
from lab.trial import run_arm

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

    from lab.records import ArmHistory, ArmVerdict
    from lab.scenario.models import Scenario

ROOT = Path(__file__).parents[2] / "scenarios"
SMALL = ("workload.preset=small", "engine.concurrency=8")


@dataclass(frozen=True)
class Ran:
    """An arm that was driven, and what was concluded."""

    history: ArmHistory
    verdict: ArmVerdict

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the file's, and whatever else it names was seen."""
        found = self.verdict
        named = set(found.expected_violations) <= set(found.seen)
        return found.verdict == found.expected and named

    @property
    def clean(self) -> bool:
        """Whether no reply, no ledger, no fault and no missing exposure spoils the verdict."""
        return self.verdict.verdict == "clean" and not self.verdict.seen

    def count(self, name: str) -> int:
        """One counter; a path that has none never existed."""
        return self.history.counters[name]

    def moved(self, prefix: str, *parts: str) -> dict[str, int]:
        """The counters that begin with ``prefix``, have every one of ``parts``, and are not 0."""
        return {
            name.removeprefix(prefix): n
            for name, n in self.history.counters.items()
            if n and name.startswith(prefix) and set(parts) <= {*name.split(":")}
        }

    def mismatches(self) -> list[tuple[str, str, int]]:
        """Pool, tier and item bytes of the rows that the server said do not agree."""
        rows = stored_geometry(self.history)
        return [(r["pool"], r["tier"], r["item_bytes"]) for r in rows if not r["agrees"]]

    def texts(self) -> list[str | None]:
        """What every reply said, in order of session and turn."""
        replies = sorted(self.history.replies, key=lambda r: (r.session, r.turn))
        return [reply.raw_text for reply in replies]


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

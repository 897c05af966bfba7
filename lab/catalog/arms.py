"""What exposes an incident and what clears it, read from the arms of its scenario.

One rule: an arm says what it changes against the arm that shows the incident and is most like it,
so what clears one is told by as few settings as the file knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.report.bisection_words import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lab.scenario.models import Arm, Scenario

CLEAN = "clean"


@dataclass(frozen=True)
class Change:
    """An arm, and the settings in which it is another than the arm ``against``; without an arm, a
    flip of a toggle.
    """

    arm: str
    against: str
    settings: dict[str, Any]

    @property
    def words(self) -> str:
        """``index_k=fp8``; of several settings all."""
        return " and ".join(spelt(self.settings))


def failing(scenario: Scenario) -> list[Arm]:
    """The arms that the file expects to show the incident."""
    expected = [(arm, scenario.expected(arm.name)) for arm in scenario.arms]
    return [arm for arm, it in expected if it and (it.verdict != CLEAN or it.violations)]


def clearing(scenario: Scenario) -> list[Change]:
    """What makes a clean arm of one that is not; nothing where no arm shows the incident."""
    shown = failing(scenario)
    clean = [arm for arm in scenario.arms if arm not in shown and scenario.expected(arm.name)]
    return _once(_nearest(scenario, arm, shown) for arm in clean if shown)


def easing(scenario: Scenario) -> list[Change]:
    """What an operator could flip, each at its good value: of a load that no arm can convict."""
    good = {key: flip.good for key, flip in scenario.toggles.items()}
    return [Change("", "", {key: value}) for key, value in good.items()]


def innocent(scenario: Scenario) -> list[Change]:
    """What was changed, and the incident was still there."""
    shown = failing(scenario)
    return _once(_nearest(scenario, arm, shown[:at]) for at, arm in enumerate(shown) if at)


def verdicts(scenario: Scenario) -> list[str]:
    """What the arms that show the incident conclude; ``clean`` where none does."""
    expected = [scenario.expected(arm.name) for arm in failing(scenario)]
    return list(dict.fromkeys(it.verdict for it in expected if it)) or [CLEAN]


def evidence(scenario: Scenario) -> list[str]:
    """The violations and faults that the file expects of some arm."""
    expected = [scenario.expected(arm.name) for arm in scenario.arms]
    return list(dict.fromkeys(name for it in expected if it for name in it.violations))


def setting(scenario: Scenario) -> dict[str, Any]:
    """What the file sets, in its first arm that shows the incident, or in its first."""
    arm = (failing(scenario) or list(scenario.arms))[:1]
    return {**scenario.engine, **(arm[0].overrides if arm else {})}


def spelt(settings: Mapping[str, Any]) -> list[str]:
    """``index_k=fp8``, one a setting."""
    return [f"{key}={said(value)}" for key, value in settings.items()]


def _nearest(scenario: Scenario, arm: Arm, shown: Sequence[Arm]) -> Change:
    changes = [_change(scenario, arm, other) for other in shown]
    return min(changes, key=lambda change: len(change.settings))


def _change(scenario: Scenario, arm: Arm, other: Arm) -> Change:
    now, then = scenario.settings(arm), scenario.settings(other)
    differing = {key: value for key, value in now.items() if value != then[key]}
    return Change(arm.name, other.name, differing)


def _once(changes: Iterable[Change]) -> list[Change]:
    """The first of those that say the same."""
    found: dict[str, Change] = {}
    for change in changes:
        found.setdefault(change.words, change)
    return list(found.values())

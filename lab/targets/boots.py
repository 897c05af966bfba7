"""Which arms share a boot, and the order in which they run. One rule: pure; nothing is started.

Arms whose commands are the same share one. Arms of another round repeat what others did on boots of
their own; every second round goes backwards (A B B A), so that what drifts meets both alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.profiles import boot_key, commands, example_ports

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lab.profiles import NodeCommand
    from lab.scenario.models import Arm, Scenario


@dataclass(frozen=True)
class Boot:
    """Arms that one boot serves, one after another, and what starts it: nothing for a URL."""

    round: int
    arms: tuple[Arm, ...]
    commands: tuple[NodeCommand, ...] = ()


def boots(scenario: Scenario, ports: Mapping[str, int] | None = None) -> list[Boot]:
    """The boots of a run in their order, with example ports; raises `UserError`.

    The first arm of the file is the first that runs, for the others are held against it.
    """
    rounds = sorted({arm.round for arm in scenario.arms})
    made: list[Boot] = []
    for position, number in enumerate(rounds):
        of = list(_of_round(scenario, number, ports))
        made += reversed(of) if position % 2 else of
    return made


def _of_round(scenario: Scenario, number: int, ports: Mapping[str, int] | None) -> Iterable[Boot]:
    target = scenario.target
    arms = [arm for arm in scenario.arms if arm.round == number]
    if target.profile is None:
        return [Boot(number, tuple(arms))]
    same: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms:
        key = boot_key(target.profile, scenario.settings(arm), target.params, scenario.build)
        same.setdefault(key, []).append(arm)
    shown = ports or example_ports(target.profile)
    return [
        Boot(
            number,
            tuple(some),
            commands(
                target.profile, scenario.settings(some[0]), target.params, shown, scenario.build
            ),
        )
        for some in same.values()
    ]

"""What a run would start. One rule: nothing is started, and every command can be pasted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lab.targets.boots import Boot, boots

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from lab.scenario.models import Scenario


def dry_run(scenario: Scenario, done: Collection[str] = ()) -> dict[str, Any]:
    """The boots of a run with their commands and arms, in order, but for the arms that are
    ``done``; raises `UserError`. Ports are examples: a run takes free ones.
    """
    return {
        "scenario": scenario.name,
        "target": scenario.target.name,
        "boots": [
            {
                "boot": number,
                "round": boot.round,
                "arms": [arm.name for arm in boot.arms],
                "sessions": sum(scenario.sessions(arm) for arm in boot.arms),
                "commands": [
                    {
                        "node": command.name,
                        "argv": list(command.argv),
                        "env": dict(command.env),
                        "cwd": command.cwd,
                        "line": command.line,
                    }
                    for command in boot.commands
                ],
            }
            for number, boot in enumerate(_left(scenario, done), start=1)
        ],
    }


def _left(scenario: Scenario, done: Collection[str]) -> Iterator[Boot]:
    """The boots of which an arm is left, with these arms alone."""
    for boot in boots(scenario):
        arms = tuple(arm for arm in boot.arms if arm.name not in done)
        if arms:
            yield replace(boot, arms=arms)


def dry_run_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """For a person, and for a shell: all but the commands is a comment."""
    for boot in document["boots"]:
        arms = ", ".join(repr(name) for name in boot["arms"])
        if not boot["commands"]:
            yield f"# {document['target']}: starts nothing; arms {arms}"
            continue
        starts = f", started {boot['starts']} times" if boot.get("starts", 1) > 1 else ""
        yield f"# boot {boot['boot']}, {boot['sessions']} sessions{starts}: arms {arms}"
        yield from (command["line"] for command in boot["commands"])

"""What a run would start. One rule: nothing is started, and every command can be pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.targets.boots import boots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lab.scenario.models import Scenario


def dry_run(scenario: Scenario) -> dict[str, Any]:
    """The boots of a run with their commands and arms, in order; raises `UserError`.

    Ports are examples: a run takes free ones.
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
            for number, boot in enumerate(boots(scenario), start=1)
        ],
    }


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

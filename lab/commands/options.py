"""The options that commands share. One rule: an option means the same everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lab.commands import completion
from lab.store import DEFAULT_DB


class FailOn(StrEnum):
    """Verdicts that a script may want as an exit code: all that there are."""

    CORRUPT = "corrupt"
    PARSER_FAULT = "parser_fault"
    WEDGED = "wedged"
    NONDETERMINISTIC = "nondeterministic"
    INCONCLUSIVE = "inconclusive"
    CLEAN = "clean"


def verdicts(typed: list[str] | None) -> list[str] | None:
    """Each of the verdicts, in options of their own or with commas between; raises
    ``BadParameter``.
    """
    asked = [one.strip() for text in typed or () for one in text.split(",")]
    for one in asked:
        if one not in frozenset(FailOn):
            raise typer.BadParameter(f"{one!r} is no verdict; accepted: {', '.join(FailOn)}")
    return asked or None


class Device(StrEnum):
    """Where kernels are measured or checked."""

    CPU = "cpu"
    CUDA = "cuda"


ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file, or its bare name in scenarios/.",
        autocompletion=completion.scenarios,
    ),
]
Run = Annotated[str, typer.Argument(metavar="[RUN]", help="A run's id, part of it, or `last`.")]
ArmName = Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Only this arm.")]
Db = Annotated[
    Path, typer.Option("--db", metavar="PATH", help="The results database.", show_default=True)
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder of figures and report; by default RUN beside the database.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", min=0, max=2**63 - 1, help="Seed, instead of the scenario's."
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Patch a dotted key; may be repeated."),
]
Sessions = Annotated[
    int | None,
    typer.Option("--sessions", metavar="N", min=1, max=100_000, help="Sessions an arm, at most."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Fail = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="VERDICT",
        callback=verdicts,
        help="Exit 1 when an arm is `corrupt` (or any other verdict: repeat it, or use commas).",
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        "--repeats", metavar="N", min=1, max=100, help="Rounds, each on boots of its own: A B B A."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Run nothing: print the commands of every boot.")
]
ResumeRun = Annotated[
    str | None,
    typer.Option("--resume", metavar="RUN", help="Go on with a run: its arms that are left."),
]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Where a server fails, go on with the next arm.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, max=256, help="Processes; by default one a core."),
]
DB = DEFAULT_DB

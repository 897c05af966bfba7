"""`kvlab scenario new`: a scenario file to begin with, by options or by question."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab.commands import completion
from lab.commands.output import note

if TYPE_CHECKING:
    from lab.scenario.template import Wanted

File = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="By default NAME.yaml, in scenarios/ where that is."),
]
Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="Of the scenario.")]
About = Annotated[str, typer.Option("--about", metavar="TEXT", help="What it asks, in one line.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="TARGET",
        help="`bundled`, a base URL, or a launch profile.",
        autocompletion=completion.targets,
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="KEY=VALUE", help="Of the profile; may be repeated."),
]
Workload = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="KIND",
        help="The load; by default one that the target's model can follow.",
        autocompletion=completion.workloads,
    ),
]
Preset = Annotated[str, typer.Option("--preset", metavar="NAME", help="The load's size.")]
Sessions = Annotated[
    int, typer.Option("--sessions", metavar="N", min=1, max=100_000, help="Sessions an arm.")
]
Builds = Annotated[
    list[str] | None,
    typer.Option(
        "--build",
        metavar="DEFECT",
        help="A known fault in the code under test; may be repeated.",
        autocompletion=completion.defects,
    ),
]
Arms = Annotated[
    list[str] | None,
    typer.Option("--arm", metavar="'NAME: KEY=VALUE, …'", help="An arm; may be repeated."),
]
Toggles = Annotated[
    list[str] | None,
    typer.Option("--toggle", metavar="KEY=BAD,GOOD", help="What bisect may flip; may be repeated."),
]


def new(
    file: File = None,
    name: Name = None,
    about: About = "",
    target: Target = None,
    param: Params = None,
    workload: Workload = None,
    preset: Preset = "small",
    sessions: Sessions = 8,
    build: Builds = None,
    arm: Arms = None,
    toggle: Toggles = None,
) -> None:
    """Write a new scenario file with a comment at each key; at a terminal, ask what is not said."""
    from lab.scenario.template import Wanted, write

    of = (target or "bundled", tuple(param or ()), workload or "", preset, sessions)
    lists = (tuple(build or ()), tuple(arm or ()), tuple(toggle or ()))
    wanted = Wanted(name or _name(), about, *of, *lists)
    path = write(wanted if name is not None else _questions(wanted), file)
    note(f"{path}: written; `kvlab scenario explain {path}` says what it runs")


def _name() -> str:
    """The name, from the user; raises `UserError` where nobody can be asked."""
    from lab.errors import UserError

    if not sys.stdin.isatty():
        raise UserError("--name: is missing, and there is no terminal to ask at; give --name NAME")
    return str(typer.prompt("name (small letters, digits and _)"))


def _questions(wanted: Wanted) -> Wanted:
    """What a scenario cannot do without, and what a bisection can; an empty answer leaves it."""
    from dataclasses import replace

    from lab.profiles import known

    about = typer.prompt("what it asks, in one line", default=wanted.about, show_default=False)
    offered = f"target (bundled, a base URL, {', '.join(known())})"
    target = typer.prompt(offered, default=wanted.target)
    params = tuple(wanted.params) or _params(target)
    text = "what bisect may flip, KEY=BAD,GOOD, apart by blanks (none is an answer)"
    flips = typer.prompt(text, default="", show_default=False).split()
    return replace(
        wanted, about=about, target=target, params=params, toggles=(*wanted.toggles, *flips)
    )


def _params(target: str) -> tuple[str, ...]:
    """What the profile cannot be launched without."""
    from lab.profiles import known, load_profile

    needed = load_profile(target).params if target in known() else {}
    names = [name for name, default in needed.items() if default is None]
    return tuple(f"{name}={typer.prompt(name)}" for name in names)

"""`kvlab bisect`: from a corruption rate to the toggles that it takes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lab.commands import completion
from lab.commands import options as o
from lab.commands.output import BisectionTeller, show_plan


class Units(StrEnum):
    """What may be counted."""

    AUTO = "auto"
    SESSION = "session"
    BOOT = "boot"


class Sought(StrEnum):
    """What may be sought."""

    CORRUPT = "corrupt"
    WEDGED = "wedged"
    VIOLATED = "violated"


ScenarioFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file, or its bare name in scenarios/.",
        autocompletion=completion.scenarios,
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="bayes, ofat, ddmin or quickxplain.",
        autocompletion=completion.methods,
    ),
]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="N", min=1, help="Sessions it may drive.")
]
Unit = Annotated[
    Units | None, typer.Option("--unit", help="What counts as one: `auto` tries whether boots do.")
]
Outcome = Annotated[
    Sought | None,
    typer.Option("--outcome", help="Wrong replies; no progress; or those and broken invariants."),
]
Fix = Annotated[
    list[str] | None,
    typer.Option("--fix", metavar="KEY", help="Keep a toggle good; may be repeated."),
]
NoConfirm = Annotated[
    bool, typer.Option("--no-confirm", help="End with the discovery, not tried on fresh seeds.")
]
NoReplay = Annotated[
    bool, typer.Option("--no-replay", help="Do not shorten a failing trial to a file of its own.")
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan", "--dry-run", help="Run nothing: the first probes, their commands, the cost."
    ),
]
Resume = Annotated[
    str | None,
    typer.Option("--resume", metavar="ID", help="Go on with a stored bisection, or `last`."),
]


def bisect(
    scenario: ScenarioFile = None,
    method: Method = None,
    budget: Budget = None,
    unit: Unit = None,
    outcome: Outcome = None,
    fix: Fix = None,
    no_confirm: NoConfirm = False,
    no_replay: NoReplay = False,
    jobs: o.Jobs = None,
    plan: Plan = False,
    resume: Resume = None,
    seed: o.Seed = None,
    sessions: o.Sessions = None,
    sets: o.Sets = None,
    db: o.Db = o.DB,
    out: o.Out = None,
    as_json: o.Json = False,
) -> None:
    """Find the smallest set of toggles that a corruption takes, with stated error."""
    from lab.bisecting.order import Order
    from lab.bisecting.perform import Place, perform, planned

    bounds = (method, budget, unit and unit.value, outcome and outcome.value)
    order = Order(*bounds, tuple(fix or ()), no_confirm, tuple(sets or ()), sessions, seed)
    place = Place(db, out, jobs, not no_replay)
    if plan:
        show_plan(planned(scenario, order, place, resume), as_json)
    else:
        teller = BisectionTeller(as_json)
        document, _ = perform(scenario, order, place, resume, told=teller.verdict)
        teller.end(document)

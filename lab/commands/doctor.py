"""`kvlab doctor`: what this machine and this installation are."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show, show_json

Bench = Annotated[bool, typer.Option("--bench", help="Also run a short load and measure it.")]


def doctor(bench: Bench = False, db: o.Db = o.DB, as_json: o.Json = False) -> None:
    """Say what is installed, what the machine has, and what state the database is in."""
    from lab.doctor import examine, facts_table

    facts = examine(db, bench)
    if as_json:
        show_json(facts)
    else:
        show(facts_table(facts))

"""`kvlab catalog`: every incident, what names it, and what the names mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import note, show, show_json

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="An incident, a violation, a fault or a detector."),
]
Pages = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write catalog.html and catalog.md there instead."),
]


def catalog(name: Name = None, out: Pages = None, as_json: o.Json = False) -> None:
    """List the incidents with mechanism, trigger, evidence and origin; what each name means."""
    from lab.catalog import chosen, document, whole
    from lab.progress import counting

    with counting("catalog", "scenarios") as tick:
        table = whole(tick)
    table = table if name is None else chosen(table, name)
    if out is not None:
        from lab.catalog.written import write

        write(table, out)
        note(f"catalog.html and catalog.md are in {out}")
    if as_json:
        show_json(document(table))
    elif out is None:
        from lab.catalog.terminal import entry, listing

        show(listing(table) if name is None else entry(table))

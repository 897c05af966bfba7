"""`kvlab scenario list|check|schema`: the files before they are run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import note, show, show_json

app = typer.Typer(no_args_is_help=True, help="List, check and describe scenario files.")
Root = Annotated[Path, typer.Option("--root", metavar="DIR", help="Folder that is searched.")]
Files = Annotated[
    list[Path] | None, typer.Argument(metavar="[SCENARIO]...", help="Files; by default, all.")
]
SCENARIOS = Path("scenarios")


@app.command("list")
def list_(root: Root = SCENARIOS, as_json: o.Json = False) -> None:
    """List the scenarios: name, arms, what each is about."""
    from lab.scenario.catalog import catalog, catalog_table

    entries = catalog(root)
    if as_json:
        show_json([entry.document() for entry in entries])
    else:
        show(catalog_table(entries, root))


@app.command()
def check(files: Files = None, sets: o.Sets = None, as_json: o.Json = False) -> None:
    """Check scenario files without running them: one line a file, exit 2 if any is wrong."""
    from lab.scenario.catalog import check_files

    checked = check_files(files or (), sets or ())
    if as_json:
        show_json([entry.document() for entry in checked])
    for entry in checked:
        if not as_json or entry.problem:
            note(entry.problem or f"{entry.path}: ok")
            for said in entry.notes:
                note(f"{entry.path}: note: {said}")
    raise typer.Exit(2 if any(entry.problem for entry in checked) else 0)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario file."""
    from lab.scenario.schema import text

    typer.echo(text(), nl=False)

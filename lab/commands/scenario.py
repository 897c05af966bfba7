"""`kvlab scenario list|new|check|explain|schema`: the files before they are run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands import scenario_new
from lab.commands.output import note, show, show_json

app = typer.Typer(no_args_is_help=True, help="List, write, check and describe scenario files.")
Root = Annotated[
    Path | None,
    typer.Option(
        "--root", metavar="DIR", help="Folder that is searched; by default what ships, and yours."
    ),
]
Files = Annotated[
    list[Path] | None, typer.Argument(metavar="[SCENARIO]...", help="Files; by default, all.")
]


@app.command("list")
def list_(root: Root = None, as_json: o.Json = False) -> None:
    """List the scenarios by folder: name, arms, and the first line of what each is about."""
    from lab.scenario.catalog import catalog_table, every

    entries = every(root)
    if as_json:
        show_json([entry.document() for entry in entries])
    else:
        show(catalog_table(entries))


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


app.command()(scenario_new.new)


@app.command()
def explain(
    scenario: o.ScenarioFile,
    seed: o.Seed = None,
    sessions: o.Sessions = None,
    sets: o.Sets = None,
    repeats: o.Repeats = 1,
    db: o.Db = o.DB,
    as_json: o.Json = False,
) -> None:
    """Say what a file would run: arms and what differs, sessions, boots, and how long it takes."""
    from lab.expected import expected
    from lab.report.expected import expected_report
    from lab.scenario.loader import capped, load_scenario
    from lab.scenario.rounds import repeated

    arms = repeated(load_scenario(scenario, sets or (), seed), repeats, here=False)
    told = expected(capped(arms, sessions), db)
    if as_json:
        show_json(told)
    else:
        show(expected_report(told))


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario file."""
    from lab.scenario.schema import text

    typer.echo(text(), nl=False)

"""`kvlab report`: judged runs or bisections once more: tables, figures, markdown and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lab.commands import options as o
from lab.commands.output import note, show_bisection, show_json, show_line, show_run
from lab.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.reporting import Reported

Named = Annotated[
    list[str] | None,
    typer.Argument(metavar="[RUN]...", help="Runs or bisections: ids, parts of ids, or `last`."),
]
Markdown = Annotated[
    bool, typer.Option("--markdown", help="Print what an issue tracker takes, and nothing else.")
]


def report(
    run: Named = None,
    db: o.Db = o.DB,
    out: o.Out = None,
    markdown: Markdown = False,
    as_json: o.Json = False,
) -> None:
    """Show a run's or a bisection's tables again; write its page, its figures and its markdown."""
    from lab.reporting import reports
    from lab.store import open_results

    if markdown and as_json:
        raise UserError("--markdown with --json: give one of them")
    with open_results(db, create=False) as results:
        found = reports(results, run or ["last"], out)
    if as_json:
        documents = [it.document() for it in found]
        show_json(documents if len(documents) > 1 else documents[0])
    elif markdown:
        show_markdown(found)
    else:
        show_tables(found)


def show_markdown(found: Sequence[Reported]) -> None:
    """Print the markdown, and beside it where the figures are that it names."""
    for it in found:
        show_line(it.markdown().rstrip("\n"))
        note(f"the figures to attach are in {it.folder}")


def show_tables(found: Sequence[Reported]) -> None:
    """Print what each concluded, and where it is written."""
    for it in found:
        if it.verdict is not None:
            show_run(it.verdict, False, it.folder)
        elif it.bisection is not None:
            show_bisection(it.bisection, it.folder, False)

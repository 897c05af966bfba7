"""`kvlab sql`: a question of one's own, in SQL, over documented views."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.errors import UserError

Question = Annotated[
    str, typer.Argument(metavar="SELECT", help="One SELECT over the views.", show_default=False)
]
Views = Annotated[bool, typer.Option("--views", help="List the views and their columns.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV, with a head, and nothing else.")]


def sql(
    question: Question = "",
    views: Views = False,
    db: o.Db = o.DB,
    as_json: o.Json = False,
    as_csv: Csv = False,
) -> None:
    """Ask the database with a SELECT, for instance `SELECT arm, rate FROM arms`."""
    from lab.asked_sql import show_answer, show_views

    if as_json and as_csv:
        raise UserError("--json and --csv are two outputs; choose one")
    if views:
        show_views(as_json)
        return
    if not question:
        raise UserError("what to ask? `kvlab sql 'SELECT * FROM runs'`; --views lists the views")
    show_answer(db, question, as_json, as_csv)

"""`kvlab judge`: a stored run judged again, without running it."""

from __future__ import annotations

import typer

from lab.commands import options as o
from lab.commands.output import exit_code, show_run


def judge(
    run: o.Run = "last", db: o.Db = o.DB, as_json: o.Json = False, fail_on: o.Fail = None
) -> None:
    """Judge a stored run again, without running it again."""
    from lab.running import judge_run
    from lab.store import open_results

    with open_results(db, create=False) as results:
        verdict = judge_run(results, results.resolve(run))
    show_run(verdict, as_json)
    raise typer.Exit(exit_code(verdict, fail_on))

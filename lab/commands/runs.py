"""`kvlab runs`: what the database holds."""

from __future__ import annotations

from lab.commands import options as o
from lab.commands.output import show, show_json


def runs(db: o.Db = o.DB, as_json: o.Json = False) -> None:
    """List the stored runs, newest first."""
    from lab.report.document import run_document
    from lab.report.views import runs_table
    from lab.store import open_results

    with open_results(db, create=False) as results:
        stored = results.runs()
    if as_json:
        show_json([run_document(run) for run in reversed(stored)])
    else:
        show(runs_table(stored))

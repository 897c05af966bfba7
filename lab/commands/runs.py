"""`kvlab runs`: what the database holds, runs and bisections."""

from __future__ import annotations

from lab.commands import options as o
from lab.commands.output import show, show_json


def runs(db: o.Db = o.DB, as_json: o.Json = False) -> None:
    """List the stored runs and bisections, newest first."""
    from lab.report.document import stored_documents
    from lab.report.views import bisections_table, runs_table
    from lab.store import open_results

    with open_results(db, create=False) as results:
        stored, bisections = results.runs(), results.bisections()
    if as_json:
        show_json(stored_documents(stored, bisections))
        return
    if stored or not bisections:
        show(runs_table(stored))
    if bisections:
        show(bisections_table(bisections))

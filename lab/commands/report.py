"""`kvlab report`: a judged run once more, as a table, figures and markdown."""

from __future__ import annotations

from lab.commands import options as o
from lab.commands.output import show_run


def report(
    run: o.Run = "last", db: o.Db = o.DB, out: o.Out = None, as_json: o.Json = False
) -> None:
    """Show a run's A/B table again, and write its figures and its markdown report."""
    from lab.ended import verdict_of
    from lab.running import write_report
    from lab.store import open_results

    with open_results(db, create=False) as results:
        verdict = verdict_of(results, results.resolve(run))
        folder = write_report(results, verdict, out)
    show_run(verdict, as_json, folder)

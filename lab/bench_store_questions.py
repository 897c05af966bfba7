"""The questions that the store is timed with: all that commands ask it, and one a view at least.

One rule: a question is asked of the largest run, or of all runs; never of what is surely small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.store import Results

ASKED: Mapping[str, Callable[[Results, str], object]] = {
    "runs: every run and bisection": lambda results, run: (results.runs(), results.bisections()),
    "a run by `last`": lambda results, run: results.resolve("last"),
    "one run": lambda results, run: results.run(run),
    "its verdict": lambda results, run: results.verdict(run),
    "its findings": lambda results, run: results.findings(run),
    "arms that sent for a session": lambda results, run: results.arms(run, session=3),
    "one arm, whole: 10,000 replies": lambda results, run: results.histories(run, arm(run)),
    "compared with the run before": lambda results, run: compared(results, run),
    "four arms, whole: 40,000 replies": lambda results, run: results.histories(run),
    "its rooms' pages": lambda results, run: results.room_pages(run, arm(run)),
}
VIEWS: Mapping[str, str] = {
    "runs: by scenario": "SELECT scenario, count(*), sum(arms) FROM runs GROUP BY scenario",
    "arms: rates by name": "SELECT arm, sum(sessions_corrupt) / sum(sessions), max(ci95_high)"
    " FROM arms GROUP BY arm",
    "sessions: corrupt by arm": "SELECT arm, count(*) FILTER (corrupt), count(*) FROM sessions"
    " GROUP BY arm",
    "turns: of a session": "SELECT expected_text FROM turns WHERE run = $run AND session = 3",
    "replies: all, by arm and status": "SELECT arm, status, count(*), sum(completion_tokens)"
    " FROM replies GROUP BY arm, status",
    "replies: all, exact p50 and p99": "SELECT arm, quantile_cont(latency_s, [0.5, 0.99])"
    " FROM replies GROUP BY arm",
    "replies: all, histogram of latency": "SELECT arm, floor(4 * log2(latency_s)), count(*)"
    " FROM replies WHERE status = 'ok' GROUP BY ALL",
    "replies: a run's exact p99": "SELECT arm, quantile_cont(latency_s, 0.99) FROM replies"
    " WHERE run = $run GROUP BY arm",
    "replies: a session's, with text": "SELECT * FROM replies WHERE run = $run AND session = 3",
    "replies: a run's, rate by hundred": "SELECT session // 100, count(*) FILTER (f.run IS NOT"
    " NULL) / count(*) FROM replies r LEFT JOIN findings f USING (run, arm, session, turn)"
    " WHERE run = $run GROUP BY 1",
    "findings: by detector": "SELECT detector, outcome, count(*) FROM findings GROUP BY ALL",
    "violations: by name": "SELECT name, sum(n) FROM violations GROUP BY name",
    "exposure: by name and arm": "SELECT arm, name, sum(value) FROM exposure GROUP BY ALL",
    "comparisons: the least p": "SELECT a, b, min(p_value) FROM comparisons GROUP BY ALL",
    "events: all, by kind": "SELECT kind, count(*) FROM events GROUP BY kind",
    "events: a run's, of a kind": "SELECT count(*), max(at_s) FROM events WHERE run = $run"
    " AND kind = 'reply' AND fields->>'$.status' <> 'ok'",
    "boots": "SELECT run, boot, sum(sessions) FROM boots GROUP BY ALL",
    "rooms: by outcome": "SELECT outcome, count(*) FROM rooms GROUP BY outcome",
    "bisections": "SELECT verdict, count(*) FROM bisections GROUP BY verdict",
    "probes": "SELECT phase, avg(rate) FROM probes GROUP BY phase",
    "trials": "SELECT verdict, sum(sessions) FROM trials GROUP BY verdict",
}


def compared(results: Results, run: str) -> object:
    """The run held against the one before it, as `kvlab compare` does."""
    from lab.comparing import compare

    known = [stored.id for stored in results.runs()]
    at = known.index(run)
    return compare(results, known[at - 1], run) if at else None


def arm(run: str) -> str:
    """The arm that is asked for."""
    from lab.bench_store_load import ARMS

    return ARMS[0]

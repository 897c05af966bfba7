"""Every statement that fills the tables, over an open connection and inside a transaction.

One rule: rows go in as whole columns (`lab.store.columns`), so a big arm costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.disagg.records import RoomDigest
from lab.store import rows as r
from lab.store.columns import insert, insert_records
from lab.store.rooms import ROOM_COLUMNS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from lab.records import ArmHistory, ArmVerdict, Comparison, Finding

OF_AN_ARM = (
    *("arms", "sessions", "turns", "replies", "counters", "events", "rooms", "room_digests"),
)


def save_history(db: DuckDBPyConnection, run: str, arm: int, history: ArmHistory) -> None:
    """Every table of one arm; the caller holds the transaction."""
    key = {"run": run, "arm": arm}
    insert_records(db, "arms", key, r.ARM_COLUMNS, [history])
    insert(db, "sessions", key, r.SESSION_COLUMNS, r.session_rows(history.replies))
    insert(db, "turns", key, r.TURN_COLUMNS, r.turn_rows(history.replies))
    insert_records(db, "replies", key, r.REPLY_COLUMNS, history.replies)
    insert(db, "counters", key, ("name", "value"), history.counters.items())
    insert(db, "events", key, ("at_ns", "kind", "fields"), history.events)
    insert_records(db, "rooms", key, ROOM_COLUMNS, history.rooms)
    insert(db, "room_digests", key, RoomDigest._fields, history.digests)


def forget_history(db: DuckDBPyConnection, run: str, arm: int) -> None:
    """Drop all that one arm left, and what was concluded about its run."""
    forget_verdict(db, run)
    for table in OF_AN_ARM:
        db.execute(f"DELETE FROM {table} WHERE run = ? AND arm = ?", [run, arm])


def forget_verdict(db: DuckDBPyConnection, run: str) -> None:
    """Drop what was concluded about a run; what was observed stays."""
    for table in ("findings", "verdicts", "comparisons"):
        db.execute(f"DELETE FROM {table} WHERE run = ?", [run])


def save_arm_verdict(
    db: DuckDBPyConnection, key: tuple[str, int], judged_at: object, verdict: ArmVerdict
) -> None:
    """One arm's verdict; settings, digest and durations stay in ``arms``."""
    ends = ("ci95_low", "ci95_high", "missed_low", "missed_high")
    names = ("judged_at", *ends, *r.VERDICT_COLUMNS)
    own = r.row_of(verdict, r.VERDICT_COLUMNS)
    values = [*key, judged_at, *verdict.ci95, *verdict.ci95_missed, *own]
    marks = ", ".join("?" * len(values))
    db.execute(f"INSERT INTO verdicts (run, arm, {', '.join(names)}) VALUES ({marks})", values)


def save_findings(
    db: DuckDBPyConnection, key: tuple[str, int], findings: Sequence[Finding]
) -> None:
    """One arm's findings, in order."""
    run, arm = key
    insert_records(db, "findings", {"run": run, "arm": arm}, r.FINDING_COLUMNS, findings)


def save_comparisons(db: DuckDBPyConnection, run: str, pairs: Sequence[Comparison]) -> None:
    """The run's comparisons, in order."""
    rows = [
        [
            *(pair.a, pair.b, pair.test, pair.p_value, *pair.difference_ci95),
            *(pair.p_value_missed, *(pair.difference_ci95_missed or (None, None))),
        ]
        for pair in pairs
    ]
    insert(db, "comparisons", {"run": run}, r.COMPARISON_COLUMNS, rows)


def finish(db: DuckDBPyConnection, run: str, status: r.RunStatus) -> None:
    """The run's last status; durations that no verdict has set are the sums over the arms."""
    db.execute(
        "UPDATE runs SET status = ?, wall_s = coalesce(runs.wall_s, total.wall_s),"
        " virtual_s = coalesce(runs.virtual_s, total.virtual_s)"
        " FROM (SELECT sum(wall_s) AS wall_s, sum(virtual_s) AS virtual_s FROM arms WHERE run = ?)"
        " AS total WHERE id = ?",
        [status.value, run, run],
    )

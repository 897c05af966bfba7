"""Every statement that fills the tables, over an open connection and inside a transaction.

One rule: rows go in column by column (one statement a table), so a big arm costs milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lab.store import rows as r
from lab.store.rooms import ROOM_COLUMNS, save_digests

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from lab.records import ArmHistory, ArmVerdict, Comparison, Finding


def insert(db: DuckDBPyConnection, table: str, key: Sequence[Any], rows: Sequence[r.Row]) -> None:
    """Append ``rows``, each prefixed by ``key``, as one list a column."""
    if not rows:
        return
    types = db.execute(
        "SELECT data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index",
        [table],
    ).fetchall()
    values = [f"unnest(?::{kind}[])" for (kind,) in types[len(key) :]]
    columns = [list(column) for column in zip(*rows, strict=True)]
    marks = ", ".join(["?"] * len(key) + values)
    db.execute(f"INSERT INTO {table} SELECT {marks}", [*key, *columns])


def numbered(rows: Sequence[r.Row]) -> list[list[Any]]:
    """Rows with their position in front."""
    return [[position, *row] for position, row in enumerate(rows)]


def save_history(db: DuckDBPyConnection, run: str, arm: int, history: ArmHistory) -> None:
    """Every table of one arm; the caller holds the transaction."""
    key = (run, arm)
    insert(db, "arms", key, [r.row_of(history, r.ARM_COLUMNS)])
    insert(db, "sessions", key, r.session_rows(history.replies))
    insert(db, "turns", key, r.turn_rows(history.replies))
    replies = [r.row_of(reply, r.REPLY_COLUMNS) for reply in history.replies]
    insert(db, "replies", key, numbered(replies))
    insert(db, "counters", key, list(history.counters.items()))
    events = [[at_ns, kind, json.dumps(fields)] for at_ns, kind, fields in history.events]
    insert(db, "events", key, numbered(events))
    rooms = [r.row_of(room, ROOM_COLUMNS) for room in history.rooms]
    insert(db, "rooms", key, numbered(rooms))
    save_digests(db, key, history.digests)


def forget_verdict(db: DuckDBPyConnection, run: str) -> None:
    """Drop what was concluded about a run; what was observed stays."""
    for table in ("findings", "verdicts", "comparisons"):
        db.execute(f"DELETE FROM {table} WHERE run = ?", [run])


def save_arm_verdict(
    db: DuckDBPyConnection, key: tuple[str, int], judged_at: object, verdict: ArmVerdict
) -> None:
    """One arm's verdict; settings, digest and durations stay in ``arms``."""
    names = ("judged_at", "ci95_low", "ci95_high", *r.VERDICT_COLUMNS)
    values = [*key, judged_at, *verdict.ci95, *r.row_of(verdict, r.VERDICT_COLUMNS)]
    marks = ", ".join("?" * len(values))
    db.execute(f"INSERT INTO verdicts (run, arm, {', '.join(names)}) VALUES ({marks})", values)


def save_findings(
    db: DuckDBPyConnection, key: tuple[str, int], findings: Sequence[Finding]
) -> None:
    """One arm's findings, in order."""
    insert(db, "findings", key, numbered([r.row_of(it, r.FINDING_COLUMNS) for it in findings]))


def save_comparisons(db: DuckDBPyConnection, run: str, pairs: Sequence[Comparison]) -> None:
    """The run's comparisons, in order."""
    rows = [[pair.a, pair.b, pair.test, pair.p_value, *pair.difference_ci95] for pair in pairs]
    insert(db, "comparisons", (run,), numbered(rows))


def finish(db: DuckDBPyConnection, run: str, status: r.RunStatus) -> None:
    """The run's last status; durations that no verdict has set are the sums over the arms."""
    db.execute(
        "UPDATE runs SET status = ?, wall_s = coalesce(runs.wall_s, total.wall_s),"
        " virtual_s = coalesce(runs.virtual_s, total.virtual_s)"
        " FROM (SELECT sum(wall_s) AS wall_s, sum(virtual_s) AS virtual_s FROM arms WHERE run = ?)"
        " AS total WHERE id = ?",
        [status.value, run, run],
    )

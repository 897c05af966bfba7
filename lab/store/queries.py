"""Every statement that reads the tables, over an open connection.

One rule: rows come back in the order in which they were saved; nothing relies on a table's own.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.exposure import FOREIGN
from lab.store import rows as r

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from lab.records import ArmVerdict, Comparison, Finding


def arm_names(db: DuckDBPyConnection, run: str) -> dict[str, int]:
    """The run's stored arms, by name, in order."""
    found = db.execute("SELECT name, arm FROM arms WHERE run = ? ORDER BY arm", [run]).fetchall()
    return dict(found)


def sent(db: DuckDBPyConnection, run: str, session: int) -> set[int]:
    """The run's arms in which a client of the session sent something."""
    found = db.execute(
        "SELECT DISTINCT arm FROM replies WHERE run = ? AND session = ? AND status <> 'not_sent'",
        [run, session],
    ).fetchall()
    return {arm for (arm,) in found}


def read_arm_verdicts(db: DuckDBPyConnection, run: str) -> list[ArmVerdict]:
    """The run's verdicts in the order of its arms."""
    own = ", ".join(f"v.{name}" for name in r.VERDICT_COLUMNS)
    boots = _boots(db, run)
    found = db.execute(
        "SELECT a.arm, a.name, a.settings, a.history_digest, a.wall_s, a.virtual_s, v.ci95_low,"
        f" v.ci95_high, v.missed_low, v.missed_high, {own} FROM verdicts v"
        " JOIN arms a USING (run, arm) WHERE run = ? ORDER BY arm",
        [run],
    ).fetchall()
    return [replace(r.arm_verdict_of(row), boot=boots.get(arm)) for arm, *row in found]


def _boots(db: DuckDBPyConnection, run: str) -> dict[int, int]:
    """The boot that served each arm, of those that a launched server served."""
    found = db.execute(
        "SELECT arm, fields FROM events WHERE run = ? AND kind = ? ORDER BY position DESC",
        [run, FOREIGN],
    ).fetchall()
    named = {arm: json.loads(fields)["boot"] for arm, fields in found}
    return {arm: boot for arm, boot in named.items() if boot}


def read_findings(db: DuckDBPyConnection, run: str, arm: int) -> list[Finding]:
    """An arm's findings in the order in which they were saved."""
    columns = ", ".join(r.FINDING_COLUMNS)
    found = db.execute(
        f"SELECT {columns} FROM findings WHERE run = ? AND arm = ? ORDER BY position", [run, arm]
    ).fetchall()
    return [r.finding_of(row) for row in found]


def read_comparisons(db: DuckDBPyConnection, run: str) -> list[Comparison]:
    """The run's comparisons, in order."""
    found = db.execute(
        f"SELECT {', '.join(r.COMPARISON_COLUMNS)} FROM comparisons"
        " WHERE run = ? ORDER BY position",
        [run],
    ).fetchall()
    return [r.comparison_of(row) for row in found]


def read_runs(db: DuckDBPyConnection, run: str | None = None) -> list[r.StoredRun]:
    """Every run, oldest first, or that one."""
    found = db.execute(
        f"""
        SELECT id, scenario, yaml, seed, versions, status, started_at, wall_s, virtual_s, asked,
            (SELECT coalesce(list(name ORDER BY arm), []) FROM arms WHERE run = id),
            (SELECT coalesce(list(verdict ORDER BY arm), []) FROM verdicts WHERE run = id)
        FROM runs {"" if run is None else "WHERE id = ?"} ORDER BY started_at, rowid
        """,
        [] if run is None else [run],
    ).fetchall()
    return [r.stored_run_of(row) for row in found]


def session_outcomes(db: DuckDBPyConnection, run: str, arm: int) -> dict[int, bool]:
    """Whether each session of which a reply came whole is corrupt, by session."""
    found = db.execute(
        """
        SELECT session, bool_or(wrong.session IS NOT NULL) FROM replies
        LEFT JOIN (SELECT DISTINCT session FROM findings WHERE run = $run AND arm = $arm
            AND outcome = 'fail' AND kind = 'corrupt') wrong USING (session)
        WHERE run = $run AND arm = $arm AND due
        GROUP BY session HAVING bool_or(status = 'ok') ORDER BY session
        """,
        {"run": run, "arm": arm},
    ).fetchall()
    return {int(session): bool(corrupt) for session, corrupt in found}


def session_loads(db: DuckDBPyConnection, run: str, arm: int) -> dict[int, str]:
    """What each session of an arm was asked, as a digest of its turns and their right replies."""
    found = db.execute(
        """
        SELECT session, md5(string_agg(
            concat(turn, ':', length(expected_text), ':', expected_text, expected_call)
            ORDER BY turn))
        FROM turns WHERE run = ? AND arm = ? GROUP BY session ORDER BY session
        """,
        [run, arm],
    ).fetchall()
    return {int(session): digest for session, digest in found}


def reply_times(
    db: DuckDBPyConnection, run: str, arms: Sequence[int]
) -> dict[str, dict[tuple[int, int], list[float]]]:
    """Seconds of whole replies: to the first token, to the end from the first asking; by session,
    the arms' sessions apart: (place in ``arms``, session).
    """
    found = db.execute(
        """
        SELECT arm, session, list(first_token_s - sent_s) FILTER (first_token_s IS NOT NULL),
            list(done_s - coalesce(first_sent_s, sent_s)) FILTER (done_s IS NOT NULL)
        FROM replies WHERE run = ? AND list_contains(?::INTEGER[], arm) AND status = 'ok'
        GROUP BY arm, session ORDER BY arm, session
        """,
        [run, list(arms)],
    ).fetchall()
    first = {(arms.index(arm), session): of or [] for arm, session, of, _ in found}
    whole = {(arms.index(arm), session): of or [] for arm, session, _, of in found}
    return {"first token": first, "reply": whole}

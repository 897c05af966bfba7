"""Records as rows of the database, and back.

One rule: a row holds plain scalars; what has structure is JSON text, in the record's own order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lab.records import ArmVerdict, Asked, Comparison, Finding, LateWrite, Reply
from lab.store.columns import encode
from lab.store.decoding import decode

if TYPE_CHECKING:
    from datetime import datetime

ARM_COLUMNS = (
    *("name", "settings", "sessions", "history_digest", "wall_s", "virtual_s", "stalled"),
    "timeout_s",
)
REPLY_COLUMNS = (
    *("session", "turn", "due", "status", "finish_reason", "raw_text", "content", "reasoning"),
    *("tool_calls", "prompt_tokens", "cached_tokens", "completion_tokens"),
    *("sent_s", "first_token_s", "done_s", "request_id", "error", "tries", "first_sent_s"),
    *("last_token_s", "gaps_ms", "cached_tiers", "chunks"),
)
FINDING_COLUMNS = ("session", "turn", "detector", "outcome", "detail", "kind")
SESSION_COLUMNS = ("session", "replies_due", "first_sent_s", "last_done_s")
TURN_COLUMNS = ("session", "turn", "expected_text", "expected_call")
COMPARISON_COLUMNS = (
    *("a", "b", "test", "p_value", "difference_low", "difference_high"),
    *("p_value_missed", "missed_low", "missed_high"),
)
VERDICT_COLUMNS = (
    *("sessions", "sessions_corrupt", "replies_due", "replies_corrupt", "unfinished", "rate"),
    *("outcomes", "violations", "exposure", "verdict", "expected", "reason"),
    *("faults", "expected_violations", "caveat", "mismatches", "late_writes", "room_failures"),
    *("sessions_silent", "sessions_missed", "replies_missed", "missed", "control", "rules"),
)
TUPLES = ("expected_violations", "mismatches", "late_writes")
REPLY_JSON = ("tool_calls", "gaps_ms", "cached_tiers", "chunks")
VERDICT_JSON = ("outcomes", "violations", "faults", "exposure", "room_failures", "missed")
JSON_COLUMNS = frozenset({*REPLY_JSON, *VERDICT_JSON, *TUPLES})

Row = Sequence[Any]


class RunStatus(StrEnum):
    """What became of a run; ``interrupted`` is also what a killed process leaves."""

    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


LEGAL: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.RUNNING: frozenset({RunStatus.DONE, RunStatus.INTERRUPTED, RunStatus.FAILED}),
    RunStatus.DONE: frozenset(),
    RunStatus.INTERRUPTED: frozenset({RunStatus.RUNNING}),
    RunStatus.FAILED: frozenset({RunStatus.RUNNING}),
}


@dataclass(frozen=True)
class StoredRun:
    """One run as `kvlab runs` lists it; ``arms`` and ``verdicts`` are in the run's order."""

    id: str
    scenario: str
    yaml: str
    seed: int
    versions: dict[str, Any]
    status: RunStatus
    started_at: datetime  # UTC, without a zone
    wall_s: float | None
    virtual_s: float | None
    arms: tuple[str, ...]
    verdicts: tuple[str, ...]  # empty until the run is judged
    asked: Asked = field(default_factory=Asked)  # empty where an older kvlab stored the run


def row_of(record: object, columns: Iterable[str]) -> list[Any]:
    """The named fields of a record, encoded."""
    return [encode(getattr(record, name)) for name in columns]


def fields_of(columns: Sequence[str], row: Row) -> dict[str, Any]:
    """The inverse of ``row_of``: field names with decoded values."""
    return {
        name: decode(value) if name in JSON_COLUMNS else value
        for name, value in zip(columns, row, strict=True)
    }


def finding_of(row: Row) -> Finding:
    """A finding from its ``FINDING_COLUMNS``."""
    return Finding(**fields_of(FINDING_COLUMNS, row))


def arm_verdict_of(row: Row) -> ArmVerdict:
    """A verdict from name, settings, digest, wall, virtual, both intervals, VERDICT_COLUMNS."""
    name, settings, digest, wall_s, virtual_s, low, high, missed_low, missed_high, *own = row
    fields = fields_of(VERDICT_COLUMNS, own)
    for column in TUPLES:
        fields[column] = tuple(fields[column])
    fields["late_writes"] = tuple(LateWrite(**it) for it in fields["late_writes"])
    return ArmVerdict(
        name=name,
        settings=json.loads(settings),
        history_digest=digest,
        wall_s=wall_s,
        virtual_s=virtual_s,
        ci95=(low, high),
        ci95_missed=(missed_low, missed_high),
        **fields,
    )


def stored_run_of(row: Row) -> StoredRun:
    """A run from its columns, its arms' names and their verdicts."""
    run, scenario, yaml, seed, versions, status, started_at, *rest = row
    wall_s, virtual_s, asked, arms, verdicts = rest
    return StoredRun(
        id=run,
        scenario=scenario,
        yaml=yaml,
        seed=seed,
        versions=json.loads(versions),
        status=RunStatus(status),
        started_at=started_at,
        wall_s=wall_s,
        virtual_s=virtual_s,
        arms=tuple(arms),
        verdicts=tuple(verdicts),
        asked=asked_of(asked),
    )


def asked_of(text: str) -> Asked:
    """How a run was asked for, from its JSON."""
    fields = json.loads(text)
    return Asked(
        argv=tuple(fields.get("argv", ())),
        sets=tuple(fields.get("sets", ())),
        sessions=fields.get("sessions", {}),
    )


def comparison_of(row: Row) -> Comparison:
    """A comparison from its ``COMPARISON_COLUMNS``."""
    a, b, test, p_value, low, high, p_missed, missed_low, missed_high = row
    missed = None if p_missed is None else (missed_low, missed_high)
    return Comparison(a, b, test, p_value, (low, high), p_missed, missed)


def session_rows(replies: Iterable[Reply]) -> list[list[Any]]:
    """One row a session, by number: replies due, first sent, last done."""
    rows: dict[int, list[Any]] = {}
    for reply in replies:
        row = rows.setdefault(reply.session, [reply.session, 0, None, None])
        row[1] += reply.due
        if reply.status != "not_sent":
            row[2] = reply.began_s if row[2] is None else min(row[2], reply.began_s)
        if reply.done_s is not None:
            row[3] = reply.done_s if row[3] is None else max(row[3], reply.done_s)
    return [rows[session] for session in sorted(rows)]


def turn_rows(replies: Iterable[Reply]) -> list[list[Any]]:
    """One row a turn, by session and turn: what the right reply is."""
    rows = {(it.session, it.turn): (it.expected_text, it.expected_call) for it in replies}
    return [[*turn, *rows[turn]] for turn in sorted(rows)]

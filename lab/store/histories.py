"""Arms read whole: the replies and events of all arms that are asked for, in one pass a table.

One rule: an arm comes back equal to what was saved, in its order. A table is looked through once,
whatever the arms, for that costs what all runs of the file cost; JSON is decoded by the column.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lab.records import ArmHistory, Reply
from lab.store.decoding import decode_all
from lab.store.rooms import read_digests, read_rooms
from lab.store.rows import ARM_COLUMNS, REPLY_JSON

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

REPLY = tuple(field.name for field in fields(Reply))  # as its rows are read
TURN_OF_REPLY = "replies JOIN turns USING (run, arm, session, turn)"
STRUCTURED = frozenset({*REPLY_JSON, "expected_call"})
TUPLES = frozenset({"tool_calls", "chunks"})
Rows = list[tuple[Any, ...]]


def read_histories(db: DuckDBPyConnection, run: str, arms: Sequence[int]) -> list[ArmHistory]:
    """The arms of these numbers, in their order."""
    with uncollected():
        own = _rows(db, run, arms, ARM_COLUMNS, "arms", "arm")
        counters = _rows(db, run, arms, ("name", "value"), "counters", "rowid")
        replies = _rows(db, run, arms, REPLY, TURN_OF_REPLY, "position")
        events = _rows(db, run, arms, ("at_ns", "kind", "fields"), "events", "position")
        return [
            _arm(
                own[arm][0],
                replies=_replies(replies.pop(arm, [])),
                counters=dict(counters.get(arm, ())),
                events=_events(events.pop(arm, [])),
                rooms=read_rooms(db, run, arm),
                digests=read_digests(db, run, arm),
            )
            for arm in arms
        ]


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing looks for reference cycles meanwhile: a hundred thousand records that hold none would
    be gone through again and again.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _rows(
    db: DuckDBPyConnection,
    run: str,
    arms: Sequence[int],
    columns: Sequence[str],
    source: str,
    order: str,
) -> dict[int, Rows]:
    """The rows of each arm that has any, in order."""
    found = db.execute(
        f"SELECT {', '.join(columns)}, arm FROM {source}"
        f" WHERE run = ? AND list_contains(?::INTEGER[], arm) ORDER BY arm, {order}",
        [run, list(arms)],
    ).fetchall()
    return {
        arm: [row[:-1] for row in its] for arm, its in groupby(found, key=itemgetter(len(columns)))
    }


def _arm(row: Sequence[Any], **left: Any) -> ArmHistory:
    """An arm from its ``ARM_COLUMNS`` and what it left."""
    own = dict(zip(ARM_COLUMNS, row, strict=True))
    return ArmHistory(**own | {"settings": json.loads(own["settings"])}, **left)


def _replies(rows: Rows) -> list[Reply]:
    columns = zip(REPLY, zip(*rows, strict=True), strict=False)  # none of no rows
    decoded = [_decoded(name, column) for name, column in columns]
    return [Reply(*row) for row in zip(*decoded, strict=True)]


def _decoded(name: str, column: Sequence[Any]) -> Sequence[Any]:
    if name not in STRUCTURED:
        return column
    found = decode_all(column)
    return [tuple(it) for it in found] if name in TUPLES else found


def _events(rows: Rows) -> list[tuple[int, str, Any]]:
    told = decode_all([fields for _, _, fields in rows])
    return [(at_ns, kind, it) for (at_ns, kind, _), it in zip(rows, told, strict=True)]

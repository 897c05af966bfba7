"""Rooms and the digests of their pages, in and out of the database.

One rule: digests come in tens of thousands, so they come out as whole numpy columns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.disagg.records import RoomDigest, RoomRecord

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROOM_COLUMNS = (
    *("room", "request", "rank", "prompt", "prefill", "decode", "chunks", "moved_bytes"),
    *("flash_bytes", "outcome", "why", "released_s", "drained_s"),
)
STRUCTURED = frozenset({"prefill", "decode", "moved_bytes"})


class Difference(NamedTuple):
    """A page row that is not what was sent of it; ``src_page`` is None where nothing was."""

    position: int
    pool: str
    layer: int
    src_page: int | None
    dst_page: int


class RoomPages(NamedTuple):
    """How many page rows of a room arrived, and how many of them are not what was sent.

    ``first`` is the one that differs at the least position.
    """

    compared: int
    different: int
    first: Difference | None


def read_digests(db: DuckDBPyConnection, run: str, arm: int) -> list[RoomDigest]:
    """An arm's digests in the order in which they were saved."""
    found = db.execute(
        f"SELECT {', '.join(RoomDigest._fields)} FROM room_digests"
        " WHERE run = ? AND arm = ? ORDER BY place",
        [run, arm],
    ).fetchnumpy()
    columns = (column.tolist() for column in found.values())
    return list(map(RoomDigest._make, zip(*columns, strict=True)))


def read_rooms(db: DuckDBPyConnection, run: str, arm: int) -> list[RoomRecord]:
    """An arm's rooms in the order in which they were saved."""
    found = db.execute(
        f"SELECT {', '.join(ROOM_COLUMNS)} FROM rooms WHERE run = ? AND arm = ? ORDER BY place",
        [run, arm],
    ).fetchall()
    return [RoomRecord(**_fields(row)) for row in found]


def _fields(row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name in STRUCTURED else value
        for name, value in zip(ROOM_COLUMNS, row, strict=True)
    }


def read_pages(db: DuckDBPyConnection, run: str, arm: int) -> dict[tuple[int, int], RoomPages]:
    """What became of an arm's pages on their way, by rank and room."""
    found = db.execute(
        """
        SELECT rank, room, count(equal), count(*) FILTER (NOT equal),
            min((position, pool, layer, src_page, dst_page)) FILTER (NOT equal)
        FROM room_pages WHERE run = ? AND arm = ? GROUP BY rank, room ORDER BY rank, room
        """,
        [run, arm],
    ).fetchall()
    return {
        (rank, room): RoomPages(compared, different, None if first is None else Difference(*first))
        for rank, room, compared, different, first in found
    }

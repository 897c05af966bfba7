"""Which turn of which session a room was opened for, and so who was hit by whom.

One rule: a room is joined by a number that a client was told: its reply's id, or the error that
names the room. A client that heard neither (it gave up, or left) has no room that is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lab.rooms import late_writes
from lab.tries import failed_tries

if TYPE_CHECKING:
    from lab.records import ArmHistory, LateWrite, Reply

REPLY = re.compile(r"chatcmpl-(\d+)")
ERROR = re.compile(r"\broom (\d+) failed\b")
FAILED = ("transport_error", "timeout")


class Turn(NamedTuple):
    """A turn of a session: several rooms where a client asked again."""

    session: int
    turn: int


def turns_of(history: ArmHistory) -> dict[int, Turn]:
    """The turn of each room of which one is known."""
    numbers = numbered(history)
    found = {
        room: Turn(it.session, it.turn)
        for it in failed_tries(history)
        if (room := _failed(it.error)) is not None
    }
    for reply in history.replies:
        if (room := room_of(reply, numbers)) is not None:
            found[room] = Turn(reply.session, reply.turn)
    return {room: turn for room, turn in found.items() if room in numbers.values()}


def numbered(history: ArmHistory) -> dict[int, int]:
    """Rooms by the numbers of their requests."""
    return {record.request: record.room for record in history.rooms}


def room_of(reply: Reply, numbers: Mapping[int, int]) -> int | None:
    """The room of the last try of a reply; ``numbers`` as of ``numbered``."""
    if (room := _failed(reply.error or "")) is not None:
        return room
    known = REPLY.fullmatch(reply.request_id or "")
    return numbers.get(int(known[1])) if known else None


def _failed(error: str) -> int | None:
    """The room that an error names as failed."""
    found = ERROR.search(error)
    return int(found[1]) if found else None


def joined(history: ArmHistory) -> list[LateWrite]:
    """The arm's late writes, with the turns of writers and victims."""
    turns, failed = turns_of(history), _sessions_that_failed(history)
    found = []
    for it in late_writes(history.events):
        writer, victim = turns.get(it.writer_room), turns.get(it.victim_room)
        if writer is not None:
            it = replace(it, writer_session=writer.session, writer_turn=writer.turn)
        if victim is not None:
            it = replace(
                it,
                victim_session=victim.session,
                victim_turn=victim.turn,
                bystander=victim.session not in failed,
            )
        found.append(it)
    return found


def _sessions_that_failed(history: ArmHistory) -> set[int]:
    """Sessions of which some try failed, or had no end in time."""
    again = {it.session for it in failed_tries(history)}
    return again | {it.session for it in history.replies if it.status in FAILED}

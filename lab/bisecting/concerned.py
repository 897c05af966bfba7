"""Which sessions a broken invariant concerns. One rule: by its event's fields, whatever its name.

The first of `FIELDS` that names somebody decides: who read, else who was hit, else whose it is,
else whose room. One that names nobody (``cache``), or a client that was never told its number,
concerns a session that is not known: the boot's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lab.joins import REPLY, numbered, turns_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.records import ArmHistory

FIELDS = ("request", "victim", "owner")  # a request's number, or ``request 7``
ROOMS = ("victim_room", "room")
REQUEST = re.compile(r"request (\d+)")


def concerned(history: ArmHistory) -> set[int | None]:
    """The sessions that the arm's violations concern; None among them: one that is not known."""
    rooms = {room: turn.session for room, turn in turns_of(history).items()}
    requests = {
        request: rooms[room] for request, room in numbered(history).items() if room in rooms
    }
    for reply in history.replies:
        if known := REPLY.fullmatch(reply.request_id or ""):
            requests[int(known[1])] = reply.session
    return {
        _session(fields, requests, rooms)
        for _, kind, fields in history.events
        if kind == "violation"
    }


def _session(
    fields: Mapping[str, Any], requests: Mapping[int, int], rooms: Mapping[int, int]
) -> int | None:
    for keys, sessions in ((FIELDS, requests), (ROOMS, rooms)):
        for key in keys:
            if number := _number(fields.get(key)):
                return sessions.get(number)
    return None


def _number(value: Any) -> int:
    """Of a request or a room; 0 where nobody is named."""
    if isinstance(value, int):
        return value
    found = REQUEST.fullmatch(str(value))
    return int(found[1]) if found else 0

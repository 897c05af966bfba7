"""Whom an event concerns: a turn of a session. One rule: by its fields, whatever its name.

The first of the fields that names somebody decides: who read, else who was hit, else whose it is,
else whose room. One that names nobody (``cache``), or a client that was never told its number,
concerns a session that is not known: the boot's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lab.joins import REPLY, Turn, numbered, turns_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.records import ArmHistory

REQUESTS = ("request", "victim", "owner")  # a request's number, or ``request 7``
ROOMS = ("victim_room", "room")
NAMED = (*REQUESTS, *ROOMS)  # in a pair a room has its request's number
REQUEST = re.compile(r"request (\d+)")


class Whose:
    """The turns of one arm by the numbers of their requests and rooms."""

    def __init__(self, history: ArmHistory) -> None:
        self._rooms = turns_of(history)
        self._requests = {
            request: self._rooms[room]
            for request, room in numbered(history).items()
            if room in self._rooms
        }
        for reply in history.replies:
            if known := REPLY.fullmatch(reply.request_id or ""):
                self._requests[int(known[1])] = Turn(reply.session, reply.turn)

    @property
    def requests(self) -> Mapping[int, Turn]:
        """The turns of requests, by their numbers."""
        return self._requests

    def turn(self, fields: Mapping[str, Any]) -> Turn | None:
        """The turn that an event of these fields concerns; None where it is not known."""
        if "session" in fields:
            return Turn(int(fields["session"]), int(fields["turn"]))
        for keys, turns in ((REQUESTS, self._requests), (ROOMS, self._rooms)):
            for key in keys:
                if number := number_of(fields.get(key)):
                    return turns.get(number)
        return None


def concerned(history: ArmHistory) -> set[int | None]:
    """The sessions that the arm's violations concern; None among them: one that is not known."""
    whose = Whose(history)
    broken = (fields for _, kind, fields in history.events if kind == "violation")
    return {turn.session if (turn := whose.turn(fields)) else None for fields in broken}


def number_of(value: Any) -> int:
    """A field's number, of ``7`` as of ``request 7``; 0 where nobody is named."""
    if isinstance(value, int):
        return value
    found = REQUEST.fullmatch(str(value))
    return int(found[1]) if found else 0

"""What has arrived of a room: the decode side's receiver. One rule: notes say it, bytes do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import clock

if TYPE_CHECKING:
    from engine.disagg.wire import Wire


class Notes:
    """The notes of one wire, handed to the receptions of their rooms; those of others are lost."""

    def __init__(self, wire: Wire) -> None:
        self.open: dict[int, Reception] = {}
        self._wire = wire

    def drain(self) -> None:
        """Hand out what has arrived since the last call."""
        for note in self._wire.notes():
            room, kind, *chunk = note.split("_")
            if (reception := self.open.get(int(room))) is not None:
                reception.heard(kind, chunk)


class Reception:
    """A room's expected pieces (SGLang's ``TransferStatus``). ``deadline_s`` is a time.

    ``complete`` is chunks and state: the first token says itself whether it is there.
    """

    def __init__(self, notes: Notes, room: int, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self.aux = False
        self._notes, self._room = notes, room
        self._chunks = 0
        self._expected: int | None = None
        self._state = False
        notes.open[room] = self

    def close(self) -> None:
        """Hear of nothing any more."""
        self._notes.open.pop(self._room, None)

    def drain(self) -> None:
        """Take the notes that have arrived into account."""
        self._notes.drain()

    @property
    def complete(self) -> bool:
        """Whether every chunk and the state are there, as far as was drained."""
        return self._state and self._chunks == self._expected

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return clock.now() >= self.deadline_s

    def heard(self, kind: str, chunk: list[str]) -> None:
        """One note: its kind, and number and last flag of a chunk."""
        if kind == "kv":
            self._chunks += 1
            if chunk[1] == "1":
                self._expected = int(chunk[0]) + 1
        elif kind == "state":
            self._state = True
        else:
            self.aux = True

"""What has arrived of a room: the decode side's receiver. One rule: notes say it, bytes do not.

Chunks and state make a room ``complete`` here, as with the backends whose status and first token
travel apart (Mooncake over TCP, sglang#17259, #27374): the decode side looks into a metadata slot
before that has come, and its tag says whether it has. Over NIXL ``TransferStatus.is_done`` waits
for the aux note as well, and nobody looks early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.disagg.wire import Wire


class Notes:
    """The notes of one wire, handed to the receptions of their rooms; those of others are lost.

    The wire is asked once a turn, for all; a room counts its notes when it is polled. ``heard``
    is told of each note that is handed out, ``lost`` of each other one.
    """

    def __init__(
        self,
        wire: Wire,
        heard: Callable[[str], None] = lambda note: None,
        lost: Callable[[str], None] = lambda note: None,
    ) -> None:
        self.open: dict[int, Reception] = {}
        self._wire, self._heard, self._lost = wire, heard, lost

    def drain(self) -> None:
        """Hand out what has arrived since the last call."""
        for note in self._wire.notes():
            room, kind, *chunk = note.split("_")
            if (reception := self.open.get(int(room))) is not None:
                self._heard(note)
                reception.hand(kind, chunk)
            else:
                self._lost(note)


class Reception:
    """A room's expected pieces. ``deadline_s`` is a time; ``aux`` is the first token's note.

    A note that comes twice counts once, as in SGLang's ``TransferStatus``.
    """

    def __init__(self, notes: Notes, room: int, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self.aux = False
        self._notes, self._room = notes, room
        self._chunks: set[int] = set()
        self._unread: list[tuple[str, list[str]]] = []
        self._expected: int | None = None
        self._state = False
        notes.open[room] = self

    def close(self) -> None:
        """Hear of nothing any more."""
        self._notes.open.pop(self._room, None)

    def hand(self, kind: str, chunk: list[str]) -> None:
        """One note: its kind, and number and last flag of a chunk."""
        self._unread.append((kind, chunk))

    def drain(self) -> None:
        """Take the notes that were handed over into account."""
        for kind, chunk in self._unread:
            self._count(kind, chunk)
        self._unread.clear()

    @property
    def complete(self) -> bool:
        """Whether every chunk and the state are there, as far as was drained."""
        return self._state and len(self._chunks) == self._expected

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return clock.now() >= self.deadline_s

    def _count(self, kind: str, chunk: list[str]) -> None:
        if kind == "kv":
            self._chunks.add(int(chunk[0]))
            if chunk[1] == "1":
                self._expected = int(chunk[0]) + 1
        elif kind == "state":
            self._state = True
        else:
            self.aux = True

"""Who of a pair has heard of whose work: the waits between its hosts and its transfer queues.

One rule: an edge is drawn where somebody really hears of something: a queue of a job whose turn it
is, a host of a job's end, of a note, of a letter, of a revocation that was answered. What nobody
can hear of any more is forgotten: of a closed room nothing is kept.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable

    from engine.disagg.mail import Mailbox
    from engine.shadow.clocks import Clock
    from engine.shadow.memory import ShadowMemory


class Edges(Protocol):
    """Who is told of what one side's host does and hears; a letter's edge is its mailbox's."""

    def queued(self, job: Hashable) -> None:
        """The prefill's host queues a job."""

    def turn(self, room: int, job: Hashable) -> None:
        """The room's queue comes to a job."""

    def ended(self, room: int, job: Hashable) -> None:
        """The prefill's host hears of a job's end: a queue has one at a time."""

    def opened(self, room: int) -> None:
        """The decode's host opens a room."""

    def heard(self, note: str) -> None:
        """The decode's host reads a note of a room that it waits for."""

    def lost(self, note: str) -> None:
        """A note came of a room that the decode's host does not wait for: nobody reads it."""

    def closed(self, room: int) -> None:
        """The decode's host has done with a room."""


class NoEdges:
    """Nobody looks."""

    def queued(self, job: Hashable) -> None:
        return

    def turn(self, room: int, job: Hashable) -> None:
        return

    def ended(self, room: int, job: Hashable) -> None:
        return

    def opened(self, room: int) -> None:
        return

    def heard(self, note: str) -> None:
        return

    def lost(self, note: str) -> None:
        return

    def closed(self, room: int) -> None:
        return


class RoomEdges:
    """The waits over one rank's lane, of ``queues`` transfer queues; a room keeps to its queue."""

    def __init__(self, src: ShadowMemory, dst: ShadowMemory, queues: int) -> None:
        self._clocks = src.clocks
        self.prefill, self.decode = src.host, dst.host
        self._queues = [src.stream(f"wire {queue}") for queue in range(queues)]
        self._jobs: dict[Hashable, Clock] = {}  # what the host knew as it queued the job
        # open room -> what its queue knew with its last post
        self._posted: dict[int, Clock | None] = {}
        self._arrived: dict[str, Clock] = {}  # by note

    def queue(self, room: int) -> int:
        """The stream of a room's transfer queue."""
        return self._queues[room % len(self._queues)]

    def queued(self, job: Hashable) -> None:
        """The prefill's host queues a job."""
        self._jobs[job] = self._clocks.now(self.prefill)

    def turn(self, room: int, job: Hashable) -> None:
        """The queue comes to a job."""
        if (known := self._jobs.pop(job, None)) is not None:
            self._clocks.join(self.queue(room), known)

    def ended(self, room: int, job: Hashable) -> None:
        """The prefill's host hears of a job's end: a queue has one at a time."""
        self._jobs.pop(job, None)
        self._clocks.wait(self.prefill, self.queue(room))

    def posted(self, room: int) -> Clock:
        """A room's write was posted: what whoever hears of its end will know."""
        known = self._clocks.now(self.queue(room))
        if room in self._posted:
            self._posted[room] = known
        return known

    def arrived(self, note: str, known: Clock) -> None:
        """A note lies on the decode side; nobody has read it."""
        self._arrived[note] = known

    def heard(self, note: str) -> None:
        """The decode's host reads a note of a room that it waits for."""
        if (known := self._arrived.pop(note, None)) is not None:
            self._clocks.join(self.decode, known)

    def lost(self, note: str) -> None:
        """A note came of a room that the decode's host does not wait for: nobody reads it."""
        self._arrived.pop(note, None)

    def opened(self, room: int) -> None:
        """The decode's host opens a room."""
        self._posted.setdefault(room, None)

    def closed(self, room: int) -> None:
        """The decode's host has done with a room."""
        self._posted.pop(room, None)

    def revoked(self, room: int) -> None:
        """The decode's host has the wire's word that nothing of a room is posted any more."""
        if (known := self._posted.pop(room, None)) is not None:
            self._clocks.join(self.decode, known)

    def join(self, to_prefill: Mailbox, to_decode: Mailbox) -> None:
        """Let the two hosts know what those know whose letters they read."""
        for box, writer, reader in (
            (to_prefill, self.decode, self.prefill),
            (to_decode, self.prefill, self.decode),
        ):
            box.sealed = partial(self._clocks.now, writer)
            box.opened = partial(self._read, reader)

    def _read(self, host: int, known: Clock | None) -> None:
        if known is not None:
            self._clocks.join(host, known)

"""What the wire of one rank does to the shadows of both sides.

One rule: it hears of posts, of bytes that moved and of posts that ended from the wire itself; what
a room meant by them is no matter.

- ``unordered_access``: pages were given back, or read, while a post to them was not known to be
  over, or a post went to pages of whose last use its queue had not heard;
- ``two_writers_in_flight``: a write landed in pages that somebody else wrote since it was posted,
  or was posted to pages that somebody else still wrote, and neither waited for the other.

Rows that arrive are found out by their readers: each bears the chain of the prompt that it is of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from engine.disagg.metadata import AUX
from engine.disagg.wire import NoPostWatch, PostWatch
from engine.shadow.clocks import knew
from engine.shadow.reports import Writer, apart, report, unordered, written_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engine.disagg.wire import Posted, Region, Write
    from engine.events import Field
    from engine.shadow.clocks import Clock
    from engine.shadow.memory import ShadowMemory
    from engine.shadow.operations import Kind
    from engine.shadow.room_edges import RoomEdges
    from engine.shadow.room_rows import RoomRows


def wire_write(room: int) -> dict[str, Field]:
    """A room's write as the last writer that an event names, where no more is known of it."""
    kind: Kind = "transfer"
    return {"writer": f"wire write of room {room}", "writer_kind": kind, "writer_room": room}


class Flight(NamedTuple):
    """A post that has not ended: its operation, what is known with its end, and both sides' pages.

    Targets are int64 [n].
    """

    op: int
    known: Clock
    sources: list[int]
    targets: NDArray[np.int64]


class Tags(PostWatch, Protocol):
    """A wire's watch, as those ask it who tell of what a write destroyed."""

    def withheld(self, pages: Sequence[int]) -> None:
        """Pages of a failed room are kept back until its writer is through."""

    def slot_writer(self, slot: int) -> dict[str, Field]:
        """Whose write filled a metadata slot last, as the fields of an event."""

    def writer(self, pool: str, page: int, but: int = 0) -> dict[str, Field]:
        """Who wrote a page last, as the fields of an event: of several writers of its rows one
        that worked for another room than ``but``.
        """


class NoTags(NoPostWatch):
    """Nobody looks."""

    def withheld(self, pages: Sequence[int]) -> None:
        return

    def slot_writer(self, slot: int) -> dict[str, Field]:
        return {}

    def writer(self, pool: str, page: int, but: int = 0) -> dict[str, Field]:
        return {}


class RoomTags:
    """The posts of one lane, and the last operation that wrote each metadata slot."""

    def __init__(
        self,
        src: ShadowMemory,
        dst: ShadowMemory,
        rows: RoomRows,
        edges: RoomEdges,
        regions: Sequence[Region],
    ) -> None:
        self._src, self._dst, self._rows, self._edges = src, dst, rows, edges
        self._flights: dict[Posted, Flight] = {}
        self._aux = [region.pool for region in regions].index(AUX)
        self._slots: dict[int, int] = {}

    def posted(self, post: Posted) -> None:
        """A write is under way, and may touch its pages at any moment from now on."""
        queue = self._edges.queue(post.room)
        op = self._src.begin("transfer", f"wire write of room {post.room}", queue, room=post.room)
        sources, targets = self._rows.sources(post.writes), self._rows.targets(post.writes)
        known = self._edges.posted(post.room)
        self._flights[post] = Flight(op, known, sources, targets)
        self._src.book.copies_out[sources] += 1
        self._dst.book.coming(op, targets)
        self._dst.book.touch(targets)
        unordered(self._src, self._src.book.reads(op, sources))
        self._dst_writes(op, targets)

    def landed(self, post: Posted) -> None:
        """The bytes of a post moved: rows go with them, whoever holds their pages by now."""
        self._moved(post, post.writes, ())
        self._edges.arrived(post.note, self._flights[post].known)

    def torn(self, post: Posted, moved: Sequence[Write], torn: Sequence[Write]) -> None:
        """A post failed on its way; its note is not there."""
        self._moved(post, moved, torn)

    def ended(self, post: Posted) -> None:
        """A post will do nothing any more."""
        if (flight := self._flights.pop(post, None)) is not None:
            self._src.book.copies_out[flight.sources] -= 1
            self._dst.book.came(flight.targets)

    def revoked(self, room: int) -> None:
        """The decode side's host has the wire's word."""
        self._edges.revoked(room)

    def withheld(self, pages: Sequence[int]) -> None:
        """Pages of a failed room are kept back until its writer is through."""
        self._dst.book.withheld[list(pages)] = True

    def slot_writer(self, slot: int) -> dict[str, Field]:
        """Whose write filled a metadata slot last, as the fields of an event."""
        return self._said(self._slots.get(slot, 0))

    def writer(self, pool: str, page: int, but: int = 0) -> dict[str, Field]:
        """Who wrote a page last, as the fields of an event: of several writers of its rows one
        that worked for another room than ``but``.
        """
        group = self._dst.groups[pool, 0]
        entries = group.shape.entries
        ops = group.op[page * entries : (page + 1) * entries].tolist()
        strange = (op for op in ops if self._dst.log[op].room != but)
        return self._said(next(strange, ops[0]))

    def _moved(self, post: Posted, moved: Sequence[Write], torn: Sequence[Write]) -> None:
        """Items of a post have moved, or may have."""
        flight, book = self._flights[post], self._dst.book
        unordered(self._dst, book.read_under(flight.op, flight.targets, flight.known))
        self._clash(flight)
        for write in moved:
            self._rows.carry(write, flight.op)
            if write.region == self._aux:
                self._slots.update(dict.fromkeys(write.dst, flight.op))
        for write in torn:
            self._rows.damage(write, flight.op)
        book.touch(flight.targets)

    def _said(self, op: int) -> dict[str, Field]:
        return written_by(self._dst, Writer(op))

    def _dst_writes(self, op: int, targets: NDArray[np.int64]) -> None:
        """A post may write from now on. Pages of whose last use it has not heard stay that one's:
        whoever waits for it need not wait for a stranger.
        """
        book = self._dst.book
        before = book.wrote[targets]
        found = book.writes(op, targets)
        strange = np.isin(targets, [each.page for each in found])
        book.wrote[targets[strange]] = before[strange]
        unordered(self._dst, found)

    def _clash(self, flight: Flight) -> None:
        """Tell of whoever else wrote the pages of a write that lands, and heard nothing of it."""
        wrote = self._dst.book.wrote[flight.targets]
        for other in np.unique(wrote[wrote != flight.op]).tolist():
            if self._apart(flight, other):
                pages = flight.targets[wrote == other]
                at, edge = int(pages[0]), apart(self._dst, flight.op, other)
                writer = Writer(flight.op)
                report(self._dst, "two_writers_in_flight", at, len(pages), writer, edge=edge)

    def _apart(self, flight: Flight, other: int) -> bool:
        """Whether a post knew nothing of another operation, and that one writes."""
        its = self._dst.log[other]
        if its.kind in ("free", "none") or its.stream == self._dst.log[flight.op].stream:
            return False
        return not knew(flight.known, np.array([its.stream]), np.array([its.epoch]))[0]

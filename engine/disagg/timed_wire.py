"""What both wires share: who may write where, and when.

One rule: a post ends once, in ``_end``; until then none of its bytes have moved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine import clock
from engine.disagg.wire import NoPostWatch, Posted, PostState, PostWatch, Region, Side, Write

if TYPE_CHECKING:
    from torch import Tensor

# asyncio runs a timer up to its clock's resolution early
EARLY_S = 1e-9


class TimedWire(ABC):
    """A wire whose posts take the time that they are given.

    Items of one post that overlap at their destination land one after the other, the later on top:
    hardware leaves the order open, and a run must be the same twice.
    """

    def __init__(self) -> None:
        self._regions: dict[Side, list[Region]] = {"prefill": [], "decode": []}
        self._posted: dict[int, dict[Posted, None]] = {}  # by room, those that have not ended
        self._revoked: set[int] = set()
        self._arrived: list[str] = []
        self._closed = False
        self.watch: PostWatch = NoPostWatch()

    def register(self, side: Side, regions: Sequence[Region]) -> None:
        """Add to a side's regions."""
        self._regions[side].extend(regions)

    def post(self, room: int, writes: Sequence[Write], note: str, seconds: float) -> Posted:
        """Start a WRITE; ERR at once where it leaves registered memory."""
        posted = Posted(room, tuple(writes), note, due_s=clock.now() + seconds)
        if self._closed or room in self._revoked:
            self._end(posted, PostState.CANCELLED)
        elif why := next(filter(None, map(self._objection, posted.writes)), ""):
            self._end(posted, PostState.ERR, why)
        else:
            self._posted.setdefault(room, {})[posted] = None
            self.watch.posted(posted)
        return posted

    def poll(self, posted: Posted) -> PostState:
        """Where a post stands; if it is due, its bytes and its note are there on return."""
        if posted.state is PostState.PROC and clock.now() + EARLY_S >= posted.due_s:
            why = self._land(posted)
            self._end(posted, PostState.ERR if why else PostState.DONE, why)
        return posted.state

    def cancel(self, posted: Posted) -> None:
        """Take a post back, unless it has ended."""
        if posted.state is PostState.PROC:
            self._end(posted, PostState.CANCELLED)

    def revoke(self, room: int) -> None:
        """Cancel a room's posts and refuse its further ones."""
        self._revoked.add(room)
        for posted in list(self._posted.get(room, ())):
            self.cancel(posted)
        self.watch.revoked(room)

    def notes(self) -> list[str]:
        """The notes that arrived since the last call, in order; empty ones announce nothing."""
        arrived, self._arrived = self._arrived, []
        return arrived

    def close(self) -> None:
        """Cancel what has not ended, refuse all else and forget the regions; idempotent."""
        self._closed = True
        for posted in [posted for room in self._posted.values() for posted in room]:
            self.cancel(posted)
        for regions in self._regions.values():
            regions.clear()

    @abstractmethod
    def _move(self, writes: Sequence[Write], note: str) -> str:
        """Move items that do not overlap, then the note; returns why that failed, or ``""``."""

    def _memory(self, side: Side, write: Write) -> Tensor:
        return self._regions[side][write.region].memory

    def _land(self, posted: Posted) -> str:
        *before, last = [posted.writes] if _apart(posted.writes) else _one_by_one(posted.writes)
        moved: list[Write] = []
        for writes, note in [*((each, "") for each in before), (last, posted.note)]:
            if why := self._move(writes, note):
                self.watch.torn(posted, moved, writes)
                return why
            moved += writes
        self.watch.landed(posted)
        return ""

    def _end(self, posted: Posted, state: PostState, why: str = "") -> None:
        posted.state, posted.why = state, why
        room = self._posted.get(posted.room, {})
        if posted in room:
            del room[posted]
            if not room:
                del self._posted[posted.room]
        posted.ended.set()
        self.watch.ended(posted)

    def _objection(self, write: Write) -> str:
        """Why a write must not be posted, one line, or ``""``."""
        if len(write.src) != len(write.dst):
            return f"region {write.region}: {len(write.src)} items for {len(write.dst)} places"
        if write.src_len < 1 or write.dst_len < 1:
            return f"region {write.region}: items of {write.src_len} and {write.dst_len} bytes"
        return self._outside("prefill", write, write.src, write.src_len) or self._outside(
            "decode", write, write.dst, write.dst_len
        )

    def _outside(self, side: Side, write: Write, items: Sequence[int], stride: int) -> str:
        regions = self._regions[side]
        if not 0 <= write.region < len(regions):
            return f"region {write.region}: {side} has registered {len(regions)}"
        region = regions[write.region]
        low, high = (min(items), max(items)) if items else (0, 0)
        end = high * stride + write.src_len if items else 0
        if low >= 0 and end <= len(region.memory):
            return ""
        where = f"item {low}" if low < 0 else f"item {high} ends at byte {end:,}"
        return f"{side} {region.pool} layer {region.layer}: {where} of {len(region.memory):,}"


def _apart(writes: Sequence[Write]) -> bool:
    """Whether it is plain that no two items share a byte of their destination."""
    return len({write.region for write in writes}) == len(writes) and all(
        write.dst_len >= write.src_len and len(set(write.dst)) == len(write.dst) for write in writes
    )


def _one_by_one(writes: Sequence[Write]) -> Iterator[Sequence[Write]]:
    """Steps of one item each; the last is empty."""
    for write in writes:
        for src, dst in zip(write.src, write.dst, strict=True):
            yield (replace(write, src=(src,), dst=(dst,)),)
    yield ()

"""The copies between the tiers: queued, started together, acknowledged when they have arrived.

One rule: a copy names pages, and whoever asked for it keeps them in place until its
acknowledgement. When bytes move is the timeline's business (`engine.streams`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.cache.layer_done import LayerDoneCounter
from engine.spans import span
from engine.streams import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.cache.prefix import Node
    from engine.cache.questions import BackupStart
    from engine.cache.tiers import HostPage, HostTier
    from engine.events import EventLog
    from engine.streams import Copy, Streams


class CacheOperation(NamedTuple):
    """Pages of one prefix to copy, one for one.

    ``node`` ends the prefix; a split since then leaves it the end. ``launched`` steps had been.
    """

    device: list[int]
    host: list[HostPage]
    node: Node
    launched: int = 0


class HiCacheAck(NamedTuple):
    """A copy on its way, and the operations that were merged into it."""

    copy: Copy
    operations: list[CacheOperation]


class Finished(NamedTuple):
    """What has arrived since it was last asked."""

    backups: list[CacheOperation]
    loads: list[CacheOperation]


class HiCacheController:
    """Backups on one stream, loads on another. ``now`` is the loop's clock, in seconds."""

    def __init__(
        self,
        tier: HostTier,
        streams: Streams,
        events: EventLog,
        now: Callable[[], float],
        backup_start: BackupStart,
    ) -> None:
        self.layer_done = LayerDoneCounter(events)
        self._tier, self._streams, self._events, self._now = tier, streams, events, now
        self._start = backup_start
        self._write_queue: list[CacheOperation] = []
        self._load_queue: list[tuple[CacheOperation, list[Stage]]] = []
        self._writing: list[HiCacheAck] = []
        self._loading: list[HiCacheAck] = []
        self._launched = self._finished = 0
        self._blocked_until = 0.0

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or on its way."""
        return not (self._write_queue or self._load_queue or self._writing or self._loading)

    def write(self, device: Sequence[int], host: Sequence[HostPage], node: Node) -> None:
        """Queue a backup."""
        self._write_queue.append(CacheOperation(list(device), list(host), node, self._launched))

    def start_writing(self) -> None:
        """Start the queued backups whose pages may be read now."""
        ready: list[CacheOperation] = []
        waiting: list[CacheOperation] = []
        for each in self._write_queue:
            may = self._start.may_read(each.launched, self._finished)
            (ready if may else waiting).append(each)
        self._write_queue = waiting
        if ready:
            device, host = _merged(ready)
            copy = self._streams.issue("backup", self._tier.backup(device, host), self._at())
            self._span(copy, len(device))
            self._writing.append(HiCacheAck(copy, ready))

    def write_now(self, device: Sequence[int], host: Sequence[HostPage]) -> None:
        """Back up at once and wait for it: the next step starts that much later.

        Other copies that arrive meanwhile land with it, ahead of the clock, and are acknowledged no
        earlier for that: ``poll`` belongs to the composing of a step, and the next one is composed
        when this one, which starts once this copy has arrived, has run.
        """
        copy = self._streams.issue("backup", self._tier.backup(device, host), self._at())
        self._span(copy, len(device))
        self._streams.land(copy.finish_s)
        self._blocked_until = max(self._blocked_until, copy.finish_s)
        self._tier.settled(device, host)

    def load(self, device: Sequence[int], host: Sequence[HostPage], node: Node) -> None:
        """Queue a load for the step that is being composed.

        What it means by its host pages is what they hold now, whenever it starts.
        """
        stages = self._tier.load(host, device)
        self._load_queue.append((CacheOperation(list(device), list(host), node), stages))

    def launched(self) -> int:
        """A step was composed: start its loads. Their producer index, -1 where there are none."""
        self._launched += 1
        return self.start_loading()

    def start_loading(self) -> int:
        """Start the queued loads as one copy; its producer index, -1 where there are none."""
        queued, self._load_queue = self._load_queue, []
        if not queued:
            return -1
        stages = _side_by_side([stages for _, stages in queued])
        copy = self._streams.issue("load", stages, self._at(), "h2d")
        self._span(copy, sum(len(operation.device) for operation, _ in queued))
        self._loading.append(HiCacheAck(copy, [operation for operation, _ in queued]))
        return self.layer_done.update_producer(copy)

    def finished(self) -> None:
        """The oldest step in flight has run: backups that waited for it start."""
        self._finished += 1
        self.start_writing()

    def poll(self) -> Finished:
        """The operations that have arrived; backups are checked against their source."""
        self._writing, backups = _arrived(self._writing)
        self._loading, loads = _arrived(self._loading)
        for each in backups:
            self._tier.settled(each.device, each.host)
        for each in loads:
            self._tier.loaded(each.device)
        return Finished(backups, loads)

    def stall_s(self) -> float:
        """Seconds from now for which copies that were waited for keep the next step back."""
        return max(0.0, self._blocked_until - self._now())

    def _span(self, copy: Copy, pages: int) -> None:
        span(self._events, copy.stream, copy.stream, copy.start_s, copy.finish_s, pages=pages)

    def _at(self) -> float:
        return max(self._now(), self._blocked_until)


def _merged(operations: Sequence[CacheOperation]) -> tuple[list[int], list[HostPage]]:
    """The (device, host) pages of all operations, in order."""
    device = [page for each in operations for page in each.device]
    return device, [page for each in operations for page in each.host]


def _side_by_side(copies: Sequence[Sequence[Stage]]) -> list[Stage]:
    """Copies of equal stages as one: each stage is that stage of all of them."""
    return [_as_one(stages) for stages in zip(*copies, strict=True)]


def _as_one(stages: Sequence[Stage]) -> Stage:
    def move() -> None:
        for stage in stages:
            stage.move()

    return Stage(sum(stage.nbytes for stage in stages), move)


def _arrived(acks: list[HiCacheAck]) -> tuple[list[HiCacheAck], list[CacheOperation]]:
    """The acks of copies still on their way, and the operations of the others."""
    coming = [ack for ack in acks if not ack.copy.done]
    return coming, [each for ack in acks if ack.copy.done for each in ack.operations]

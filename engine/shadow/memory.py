"""The shadow of one engine's pools: its tags, its books, its log, and how it reports.

One rule: it only looks. Whatever it finds is an event; nothing in the engine asks it anything.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.shadow.book import PageBook
from engine.shadow.clocks import VectorClocks
from engine.shadow.digests import RowBytes
from engine.shadow.missing import Missing
from engine.shadow.operations import Kind, Operation, OperationLog
from engine.shadow.reports import unordered
from engine.shadow.tags import RowTags, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.events import EventLog
    from engine.pools.device import Pool
    from engine.shadow.clocks import Clock
    from engine.shadow.pages import Owners


@dataclass(frozen=True)
class Common:
    """What the two sides of a pair, and their ranks, share: one order of time, one log."""

    clocks: VectorClocks = field(default_factory=VectorClocks)
    log: OperationLog = field(default_factory=OperationLog)
    missing: Missing = field(default_factory=Missing)


class ShadowMemory:
    """Tags of every layer group of ``pools``, and the book of their pages.

    ``side`` prefixes the names of its streams: empty for an engine alone. ``full``: rows' bytes are
    looked at as well.
    """

    def __init__(
        self,
        pools: Sequence[Pool],
        pages: int,
        events: EventLog,
        owners: Owners,
        now_us: Callable[[], int],
        common: Common | None = None,
        side: str = "",
        full: bool = False,
    ) -> None:
        self.events, self.owners, self.now_us, self.side = events, owners, now_us, side
        self.common = common or Common()
        self.log, self.clocks = self.common.log, self.common.clocks
        self.book = PageBook(pages, self.log, self.clocks)
        self.groups = {
            (pool.name, layer): RowTags(_shape(pool, layer), RowBytes(view) if full else None)
            for pool in pools
            for layer, view in enumerate(pool.layers)
        }
        self.host = self.stream("host")
        self.compute = self.stream("compute")
        self.running = 0  # the operation of compute that is under way
        self._ended: deque[Clock] = deque()  # what is known once a step has run, step by step

    def stream(self, name: str) -> int:
        """The number of a stream of this engine's."""
        return self.clocks.stream(f"{self.side} {name}".strip())

    def taken(self, pages: Sequence[int]) -> None:
        """The host handed device pages out."""
        self.book.taken(pages)

    def freed(self, pages: Sequence[int], by: str) -> None:
        """The host gave device pages back; it must know that whoever touched them is through."""
        op = self.begin("free", f"the release by {by}", self.host)
        unordered(self, self.book.writes(op, pages))
        self.book.freed(pages, self.now_us(), by)

    def launched(self) -> None:
        """The host launches a step, which starts with all that the host knows."""
        self.clocks.wait(self.compute, self.host)

    def ended(self) -> None:
        """A step has run; the host does not know yet."""
        self.running = 0
        self._ended.append(self.clocks.now(self.compute))

    def heard(self) -> None:
        """The host processes the oldest step that it has not heard of."""
        if self._ended:
            self.clocks.join(self.host, self._ended.popleft())

    def begin(
        self,
        kind: Kind,
        name: str,
        stream: int,
        step: int = 0,
        lanes: tuple[int, ...] = (),
        room: int = 0,
    ) -> int:
        """An operation begins on a stream: its number."""
        epoch = self.clocks.tick(stream)
        return self.log.add(Operation(kind, name, stream, epoch, self.now_us(), step, lanes, room))


def _shape(pool: Pool, layer: int) -> Shape:
    view = pool.layers[layer]
    entries = pool.layout.page_tokens
    row_bytes = pool.layout.row_bytes(pool.layout.planes[0].name)
    shared = view.pages.stride(0) < pool.layout.page_bytes
    stride = view.pages.stride(0) // row_bytes if shared else 0
    ratio = {"c4": 4, "index_k": 4, "c128": 128}.get(pool.name, 1)
    return Shape(pool.name, layer, len(view.pages), entries, ratio, stride)

"""A tree over two tiers of memory that remembers what is in each page, and requests that read it.

A page holds, for each of four layers, the whole prefix that ends with it, so a page in the wrong
place, restored too late or overwritten is caught where it is read.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from engine.cache.hicache import HiCacheController
from engine.cache.hiradix import HiRadixCache
from engine.cache.prefix import Match, Node
from engine.cache.questions import CacheQuestions
from engine.cache.tiers import HostPage
from engine.cache.write_policy import Name
from engine.events import EventLog
from engine.pools.allocator import Order, PageAllocator
from engine.streams import Stage, Streams

PAGE, LAYERS = 4, 4


def text(pages: str) -> list[int]:
    """A page of equal tokens for each letter."""
    return [ord(letter) for letter in pages for _ in range(PAGE)]


def prefix_of(node: Node) -> str:
    """The letters of the pages down to the end of a node."""
    letters = "".join(chr(token) for token in node.tokens[::PAGE])
    return prefix_of(node.parent) + letters if node.parent is not None else letters


Content = list[object]  # of a page, by layer


class Memory:
    """Device memory: page -> content."""

    def __init__(self, pages: int) -> None:
        self.pages: list[Content] = [[""] * LAYERS for _ in range(pages + 1)]

    def read(self, page: int) -> Content:
        return list(self.pages[page])

    def write(self, page: int, layer: int, part: object) -> None:
        self.pages[page][layer] = part


class FakeTier:
    """Host memory beside the device memory that it mirrors: layer 0 by ``swa``, the rest by
    ``anchor``.
    """

    def __init__(self, pages: int, device: Memory) -> None:
        self.pages, self.device = pages, device
        self._anchors, self._swa = PageAllocator(pages, "lifo"), PageAllocator(pages, "fifo")
        self._windows: dict[int, object] = {}
        self._others: dict[int, Content] = {}
        self.changed: list[int] = []  # device pages that were not as copied at the ack

    @property
    def available(self) -> int:
        return self._anchors.available

    def allocate(self, pages: int) -> list[HostPage] | None:
        if not self._anchors.can_allocate(pages):
            return None
        anchors, swa = self._anchors.allocate(pages), self._swa.allocate(pages)
        return [HostPage(*pair) for pair in zip(anchors, swa, strict=True)]

    def free(self, pages: Sequence[HostPage]) -> None:
        real = [page for page in pages if page.anchor]
        self._anchors.free([page.anchor for page in real])
        self._swa.free([page.swa for page in real])

    def backup(self, device: Sequence[int], host: Sequence[HostPage]) -> list[Stage]:
        pairs = list(zip(device, host, strict=True))
        return [Stage(len(pairs), partial(self._backup, pairs))]

    def load(self, host: Sequence[HostPage], device: Sequence[int]) -> list[Stage]:
        pairs = list(zip(host, device, strict=True))
        share = len(pairs) / LAYERS
        return [Stage(share, partial(self._load, layer, pairs)) for layer in range(LAYERS)]

    def settled(self, device: Sequence[int], host: Sequence[HostPage]) -> None:
        pairs = zip(device, host, strict=True)
        self.changed += [page for page, to in pairs if self.read(to) != self.device.read(page)]

    def loaded(self, device: Sequence[int]) -> None:
        return

    def read(self, page: HostPage) -> Content:
        """What the host holds there; None where nothing was written."""
        others = self._others.get(page.anchor, [None] * (LAYERS - 1))
        return [self._windows.get(page.swa), *others]

    def _backup(self, pairs: list[tuple[int, HostPage]]) -> None:
        for page, to in pairs:
            window, *others = self.device.read(page)
            self._windows[to.swa], self._others[to.anchor] = window, others

    def _load(self, layer: int, pairs: list[tuple[HostPage, int]]) -> None:
        for page, to in pairs:
            self.device.write(to, layer, self.read(page)[layer])


@dataclass(eq=False)
class Reader:
    """A request of whole pages: it reads what was cached and writes the rest."""

    prefix: str
    pages: list[int]
    cached: int  # leading pages that others computed
    node: Node
    stepping: bool = True
    aborted: bool = False


@dataclass
class Step:
    """Readers admitted together, and the load that they wait for."""

    readers: list[Reader]
    producer: int


@dataclass
class World:
    """The tree with its memories, its timeline and the requests that run over it."""

    pages: int = 8
    host_pages: int = 12
    policy: Name = "write_through"
    ask: CacheQuestions = field(default_factory=CacheQuestions)
    pages_per_s: float = 1.0
    order: Order = "random"

    def __post_init__(self) -> None:
        self.now = 0.0
        self.events = EventLog(lambda: 0)
        self.pool = PageAllocator(self.pages, self.order, random.Random(0))
        self.device = Memory(self.pages)
        self.tier = FakeTier(self.host_pages, self.device)
        self.streams = Streams(self.pages_per_s, lambda: self.now)
        self.control = HiCacheController(
            self.tier, self.streams, self.events, lambda: self.now, self.ask.backup_start
        )
        self.cache = HiRadixCache(
            PAGE, self.pool, self.control, self.tier, self.ask, self.policy, self.events
        )
        self.readers: list[Reader] = []
        self.wrong: list[str] = []  # what was read and was not there

    def match(self, prefix: str) -> Match:
        return self.cache.match([*text(prefix), 0])

    def take(self, n: int) -> list[int]:
        short = n - self.pool.available
        if short > 0:
            assert self.cache.evict(short) == short
        return self.pool.allocate(n)

    def admit(self, prefix: str, restore: bool = True) -> Reader | None:
        """As the scheduler does: match, pin, restore, take the rest; None where it cannot be."""
        match = self.match(prefix)
        self.cache.pin(match.node)
        need = len(prefix) - len(match.pages)
        if need > self.pool.available + self.cache.evictable_pages:
            self.cache.unpin(match.node)
            return None
        longer = self.cache.load_back(match, self.take) if restore else match
        own = self.take(len(prefix) - len(longer.pages))
        self.cache.used(longer.node)
        self.cache.pin(longer.node)
        self.cache.unpin(match.node)
        reader = Reader(prefix, longer.pages + own, len(longer.pages), longer.node)
        self.readers.append(reader)
        return reader

    def launch(self, readers: list[Reader]) -> Step:
        return Step(readers, self.cache.launched())

    def work(self, step: Step) -> None:
        """The tensor work of a step: layer by layer, each behind its load."""
        for layer in range(LAYERS):
            self.streams.land(
                max(self.now, self.control.layer_done.wait_until(step.producer, layer))
            )
            for reader in step.readers:
                self._layer(reader, layer)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.streams.land(self.now)

    def finish(self, step: Step) -> None:
        """Process a step that has run: publish it, or let go of who was aborted meanwhile."""
        self.cache.finished()
        for reader in step.readers:
            reader.stepping = False
            if reader.aborted:
                self.release(reader)
                continue
            self.publish(reader)

    def publish(self, reader: Reader) -> None:
        """Let others read a prefix: written, or about to be by a step in flight."""
        node, _ = self.cache.insert(text(reader.prefix), reader.pages)
        self.cache.pin(node)
        self.cache.unpin(reader.node)
        reader.node = node

    def release(self, reader: Reader) -> None:
        _, duplicates = self.cache.insert(text(reader.prefix), reader.pages)
        self.cache.unpin(reader.node)
        self.pool.free(duplicates)
        self.readers.remove(reader)

    def serve(self, prefix: str, settle: bool = True) -> None:
        """One request from arrival to release; with ``settle`` its copies are awaited."""
        reader = self.admit(prefix)
        assert reader is not None
        step = self.launch([reader])
        self.work(step)
        self.finish(step)
        self.release(reader)
        if settle:
            self.settle()

    def settle(self) -> None:
        """Let every copy arrive and be acknowledged."""
        self.pass_time(1000.0)
        self.cache.poll()

    def count(self, name: str) -> int:
        return self.events.counters.get(name, 0)

    def owned(self) -> int:
        """Pages that requests own, each once."""
        pages = [page for reader in self.readers for page in reader.pages]
        return len({page for page in pages if not self.cache.owner_of(page)})

    def check(self) -> None:
        """Every page has one owner on its tier, and every copy says what its tokens were."""
        assert self.cache.check() == []
        assert self.pool.available + self.cache.cached_pages + self.owned() == self.pages
        assert self.wrong == [] and self.tier.changed == []
        for node in self.cache._walk():
            self._check_content(node)

    def _check_content(self, node: Node) -> None:
        whole = prefix_of(node)
        first = len(whole) - len(node.tokens) // PAGE
        right = [[whole[: first + i + 1]] * LAYERS for i in range(len(whole) - first)]
        if node.host and not node.writing:
            assert [self.tier.read(page) for page in node.host] == right
        if node.pages and not node.host_pins:
            assert [self.device.read(page) for page in node.pages] == right

    def _layer(self, reader: Reader, layer: int) -> None:
        for i, page in enumerate(reader.pages):
            right = reader.prefix[: i + 1]
            if i >= reader.cached:
                self.device.write(page, layer, right)
            elif (found := self.device.read(page)[layer]) != right:
                self.wrong.append(f"{right} is {found} at layer {layer}")

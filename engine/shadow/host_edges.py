"""The host tier in the shadow memory: its copies as operations, and who waits for which of them.

One rule: an edge is drawn where the healthy tier waits, and by that wait. A copy knows what the
host knows when it issues it; the host hears of a copy at its acknowledgement; a step hears of a
layer's load where a getter waits for that layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.shadow.book import PageBook
from engine.shadow.host_reads import GetterReads
from engine.shadow.host_tags import HostTags
from engine.shadow.host_watch import WINDOW, HostWatch, Numbers, PageCopy, Stamp
from engine.shadow.reports import Writer, unordered, written_by

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from typing import Any

    from engine.cache.tiers import HostPage
    from engine.events import Field
    from engine.pools.host import HostPool
    from engine.shadow.book import Unordered
    from engine.shadow.clocks import Clock
    from engine.shadow.host_watch import Pages
    from engine.shadow.memory import ShadowMemory
    from engine.shadow.operations import Kind

BY_ANCHOR = "c4"  # a pool that goes by the anchor's numbers


class HostShadow(HostWatch):
    """The shadow of one host tier, of ``pages`` pages, whose ``pools`` mirror the device's."""

    def __init__(self, shadow: ShadowMemory, pools: Sequence[HostPool], pages: int) -> None:
        self.shadow, self.tags = shadow, HostTags(shadow, pools)
        self.books = [PageBook(pages, shadow.log, shadow.clocks) for _ in Numbers._fields]
        kinds: tuple[Kind, ...] = ("backup", "load")
        self._streams = {kind: shadow.stream(kind) for kind in kinds}
        self._issued = dict.fromkeys(kinds, 0)
        # copies not acknowledged, in order: by the (device, anchor) pages, and by the device page
        self._backups: dict[tuple[int, int], list[PageCopy]] = {}
        self._loads: dict[int, list[PageCopy]] = {}
        self._told: set[tuple[int, ...]] = set()  # pairs of operations
        self._reads = GetterReads(shadow)

    def taken(self, pages: Sequence[HostPage]) -> None:
        """Host pages were handed out."""
        for book, numbers in zip(self.books, _numbers(pages), strict=True):
            book.taken(numbers.tolist())

    def freed(self, pages: Sequence[HostPage]) -> None:
        """Host pages were given back; whoever copied there must be known to be through."""
        op = self.shadow.begin("free", "the release of host pages", self.shadow.host)
        for book, numbers in zip(self.books, _numbers(pages), strict=True):
            real = numbers[numbers > 0]
            self._say(book.writes(op, real), book)
            book.freed(real.tolist(), self.shadow.now_us(), "the cache")

    def backup(self, device: Sequence[int], host: Sequence[HostPage]) -> PageCopy:
        """The host issues a copy of device pages to host pages."""
        copy = self._issue("backup", 1, device, host)
        self._say(self.shadow.book.reads(copy.op, copy.device))
        for book, numbers in zip(self.books, copy.host, strict=True):
            self._say(book.writes(copy.op, numbers), book)
            book.coming(copy.op, numbers)
        np.add.at(self.shadow.book.copies_out, copy.device, 1)
        for pair in zip(device, copy.host.anchor.tolist(), strict=True):
            self._backups.setdefault(pair, []).append(copy)
        return copy

    def backed_up(self, copy: PageCopy) -> None:
        """Its bytes have moved; a step that was launched since then may have written meanwhile."""
        self._say(self.shadow.book.written_under(copy.op, copy.device, copy.known[0]))
        self.shadow.log.moved(copy.op, self.shadow.now_us())
        takes = self._generations(copy.host)
        for pool, mirror in self.tags.mirrors.items():
            mirror.backup(copy.device, copy.host.of(pool), copy.op, takes.of(pool))
        for book, numbers in zip(self.books, copy.host, strict=True):
            book.came(numbers)
        np.add.at(self.shadow.book.copies_out, copy.device, -1)

    def settled(self, device: Sequence[int], host: Sequence[HostPage]) -> None:
        """The host acknowledges a backup of device pages to host pages."""
        for page, to in zip(device, host, strict=True):
            self._heard(self._backups, (page, to.anchor))

    def load(self, host: Sequence[HostPage], device: Sequence[int], stages: int) -> PageCopy:
        """The host issues a copy of host pages to device pages."""
        self._took(device)
        copy = self._issue("load", stages, device, host)
        for book, numbers in zip(self.books, copy.host, strict=True):
            self._say(book.reads(copy.op, numbers), book)
            np.add.at(book.copies_out, numbers, 1)
        self._say(self.shadow.book.writes(copy.op, copy.device))
        self.shadow.book.coming(copy.op, copy.device)
        self.shadow.book.touch(self.tags.around(copy.device))
        for page in device:
            self._loads.setdefault(page, []).append(copy)
        return copy

    def landed(self, copy: PageCopy, stage: int, pools: Iterable[tuple[str, int]]) -> None:
        """The bytes of a load's stage have moved: of each of ``pools``, one of its layers."""
        copy.landed.add(stage)
        if stage == 0 or not self._reads.waited(copy, 0):  # a step that did may read what is there
            self._say(self.shadow.book.read_under(copy.op, copy.device, copy.known[0]))
        take = self.shadow.book.generation[copy.device]
        ops: dict[bool, Pages] = {}
        for pool, layer in pools:
            if (pool == WINDOW) not in ops:
                ops[pool == WINDOW] = self._operations(copy, stage, pool)
            mirror = self.tags.mirrors[pool]
            mirror.load(layer, copy.host.of(pool), copy.device, ops[pool == WINDOW], take)
        self.shadow.book.touch(self.tags.around(copy.device))
        if stage + 1 == len(copy.known):
            for book, numbers in zip(self.books, copy.host, strict=True):
                np.add.at(book.copies_out, numbers, -1)
            self.shadow.book.came(copy.device)

    def loaded(self, device: Sequence[int]) -> None:
        """The host acknowledges the loads that filled these pages."""
        for page in device:
            self._heard(self._loads, page)

    def loads_into(self, device: Iterable[int]) -> list[PageCopy]:
        """The loads not acknowledged that fill any of these pages."""
        found = [self._loads[page][-1] for page in device if page in self._loads]
        return list({copy.op: copy for copy in found}.values())

    def reader(self, pages: Sequence[int]) -> None:
        """The next getters are those of a step's reader of prefix ``pages``; of none, without."""
        self._reads.reader(pages, {page: copies[-1] for page, copies in self._loads.items()})

    def read(self, pool: str, layer: int) -> None:
        """A getter hands a pool out at a layer of the model."""
        self._reads.read(pool, layer)

    def waited(self, loads: Iterable[PageCopy], layer: int) -> None:
        """A getter has waited for a layer of these loads: the step knows of it."""
        for copy in loads:
            self.shadow.clocks.join(self.shadow.compute, copy.known[layer])

    def stamp(self, device: Sequence[int]) -> Stamp:
        """Device pages as they are now."""
        pages = _ids(device)
        return Stamp(pages, self.shadow.book.generation[pages], self.tags.last_writers(pages))

    def damaged(self, pool: str, layer: int, stamp: Stamp, at: int) -> None:
        """By its bytes, a restored device page was not as its backup was: nor are its rows, unless
        somebody has written them since.
        """
        page, take = int(stamp.pages[at]), int(stamp.generation[at])
        if self.shadow.book.generation[page] != take:
            return
        op = int(stamp.writers[pool, layer][0][at])
        if self.tags.mirrors[pool].damage(layer, page, op, take):
            self.shadow.book.touch([page])

    def about(self, pool: str, stamp: Stamp, at: int) -> dict[str, Field]:
        """The generation of a device page and who wrote it last in a pool; and how many of its rows
        nobody wrote since it was handed out, where there are any.
        """
        page, generation = int(stamp.pages[at]), int(stamp.generation[at])
        fields: dict[str, Field] = {"generation": generation}
        now = self.shadow.book.generation[page] == generation
        if now and (left := self.tags.older(page, pool, generation)):
            fields["rows_left"] = left
        layers = [each for (of, _), each in stamp.writers.items() if of == pool]
        writer = max(Writer(int(ops[at]), int(lanes[at])) for ops, lanes in layers)
        return fields | written_by(self.shadow, writer, page)

    def about_host(self, anchor: int) -> dict[str, Field]:
        """The generation of a host page and who wrote it last."""
        fields: dict[str, Field] = {"generation": int(self.books[0].generation[anchor])}
        backup, _ = self.tags.filled_by(BY_ANCHOR, anchor)
        return fields | written_by(self.shadow, Writer(backup))

    def about_loads(self, loads: Sequence[PageCopy], reader: str = "") -> dict[str, Field]:
        """The first of loads, as a writer; ``reader`` did not wait for it."""
        if not loads:
            return {}
        fields = written_by(self.shadow, Writer(loads[0].op))
        return fields | ({"edge": f"{reader} did not wait for {loads[0].name}"} if reader else {})

    def _heard(self, copies: dict[Any, list[PageCopy]], key: Hashable) -> None:
        """The host hears of the oldest of copies that it has not heard of."""
        if waiting := copies.get(key):
            self.shadow.clocks.join(self.shadow.host, waiting.pop(0).known[-1])
            if not waiting:
                del copies[key]

    def _took(self, device: Sequence[int]) -> None:
        """Pages that a load was given, by whatever way, were handed out for it."""
        book, now = self.shadow.book, self.shadow.owners.generation_of
        if anew := [page for page in device if now(page) > book.generation[page]]:
            book.taken(anew)

    def _issue(
        self,
        kind: Kind,
        stages: int,
        device: Sequence[int],
        host: Sequence[HostPage],
    ) -> PageCopy:
        """A copy begins, which has waited for all that the host knows."""
        shadow, stream = self.shadow, self._streams[kind]
        shadow.clocks.wait(stream, shadow.host)
        self._issued[kind] += 1
        name = f"{kind} {self._issued[kind]}"
        op = shadow.begin(kind, name, stream)
        known = self._by_layer(stages) if kind == "load" else []
        known.append(shadow.clocks.now(stream))
        to = _numbers(host)
        return PageCopy(op, name, _ids(device), to, self._generations(to), known, set())

    def _by_layer(self, stages: int) -> list[Clock]:
        """What whoever waits for a layer of a load knows, all but the last: what the host does, and
        the layers up to that one. Each has a stream, for those of two loads arrive side by side.
        """
        clocks = self.shadow.clocks
        layers = [self._layer(layer) for layer in range(stages)]
        known, sofar = [], clocks.now(self.shadow.host)
        for layer in layers:
            sofar[layer] = clocks.tick(layer)
            known.append(sofar.copy())
        clocks.join(self._streams["load"], sofar)
        return known[:-1]

    def _layer(self, layer: int) -> int:
        """The stream of a layer of the loads."""
        return self.shadow.stream(f"load layer {layer}")

    def _generations(self, host: Numbers) -> Numbers:
        """The generations of host pages now."""
        pairs = zip(self.books, host, strict=True)
        return Numbers(*(book.generation[numbers] for book, numbers in pairs))

    def _operations(self, copy: PageCopy, stage: int, pool: str) -> Pages:
        """One operation a page of a load's stage, which says where its bytes come from."""
        pairs = zip(copy.host.of(pool).tolist(), copy.meant.of(pool).tolist(), strict=True)
        return _ids([self._operation(copy, stage, pool, *pair) for pair in pairs])

    def _operation(self, copy: PageCopy, stage: int, pool: str, host: int, meant: int) -> int:
        log, missing = self.shadow.log, self.shadow.common.missing
        backup, take = self.tags.filled_by(pool, host)
        source = f"{log[backup].name} filled at {log[backup].at_us} us"
        if take != meant:
            source += f", {'after' if take > meant else 'before'} it was handed to another"
        issued = log[copy.op]
        name = f"{copy.name} of host page {host}, which {source if backup else 'no backup filled'}"
        stream = self._layer(stage)
        epoch, now = int(copy.known[stage][stream]), self.shadow.now_us()
        op = log.add(issued._replace(name=name, stream=stream, epoch=epoch, at_us=now))
        if edge := missing.get(backup) or missing.get(copy.op):
            missing[op] = edge
        return op

    def _say(self, found: list[Unordered], book: PageBook | None = None) -> None:
        """Tell of pairs of operations of which nobody was told."""
        new = [each for each in found if each[1:] not in self._told]
        self._told |= {each[1:] for each in new}
        if book is None:
            unordered(self.shadow, new)
        else:
            unordered(self.shadow, new, book, tier="host")


def _numbers(pages: Sequence[HostPage]) -> Numbers:
    return Numbers(_ids([page.anchor for page in pages]), _ids([page.swa for page in pages]))


def _ids(pages: Sequence[int]) -> Pages:
    return np.array(pages, dtype=np.int64)

"""What the getters of a step hand out of pages that a load fills, judged at the getter.

One rule: a row is judged when it is read. By the end of the step the load has landed, and its rows
are as they should be: who read them too early is not to be seen any more.

``read_during_load``: the layer of a load into a page has not landed. The missing edge is the wait
for it; there is none where the step did wait, and for too little. A layer that has landed in time
is right, whoever waited for it: what a fast link cures is no finding of this one's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.config import PAGE_TOKENS
from engine.shadow.host_watch import WINDOW
from engine.shadow.reports import Writer, report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.shadow.host_watch import PageCopy
    from engine.shadow.memory import ShadowMemory

EARLY = "read_during_load"


class Early(NamedTuple):
    """Pages of a load that a getter handed out, by their place in their reader's context."""

    copy: PageCopy
    pool: str
    layer: int  # of the model
    waited: bool
    pages: list[tuple[int, int]]  # index, page


class GetterReads:
    """The reads of one reader of a step, until the step is filed and they can be told of it."""

    def __init__(self, shadow: ShadowMemory) -> None:
        self._shadow = shadow
        self._filled: list[tuple[int, int, PageCopy]] = []  # index, page, the load that fills it
        self._last = 0  # index of the last page, the only one that a window reaches
        self._found: dict[tuple[int, str], Early] = {}

    def reader(self, pages: Sequence[int], loads: Mapping[int, PageCopy]) -> None:
        """The reads of one are over, and those of another of prefix ``pages`` begin."""
        for early in self._found.values():
            self._tell(early)
        self._found, self._last = {}, len(pages) - 1
        self._filled = [(i, page, loads[page]) for i, page in enumerate(pages) if page in loads]

    def waited(self, copy: PageCopy, layer: int) -> bool:
        """Whether the step knows of a layer of a load."""
        stream = self._shadow.stream(f"load layer {layer}")
        epoch = copy.known[layer][stream][None]
        return bool(self._shadow.clocks.knows(self._shadow.compute, np.array([stream]), epoch)[0])

    def read(self, pool: str, layer: int) -> None:
        """A getter hands a pool out at a layer of the model."""
        for index, page, copy in self._filled:
            if pool == WINDOW and index != self._last:
                continue
            if layer in copy.landed:
                continue
            fresh = Early(copy, pool, layer, self.waited(copy, layer), [])
            early = self._found.setdefault((copy.op, pool), fresh)
            if early.layer == layer:
                early.pages.append((index, page))

    def _tell(self, early: Early) -> None:
        """Tell of a read of the step that is being filed; of none that was none."""
        shadow, (copy, pool, layer, waited, pages) = self._shadow, early
        if not shadow.running:
            return
        index, page = pages[0]
        group = shadow.groups.get((pool, layer)) or shadow.groups[pool, 0]
        entries, op = group.shape.entries, shadow.log[shadow.running]
        edge = "" if waited else f"the read of {pool} did not wait for {copy.name}"
        report(
            shadow,
            EARLY,
            page,
            len(pages) * entries,
            Writer(copy.op),
            pool=pool,
            layer=group.shape.layer,
            slot=page * entries,
            position=index * PAGE_TOKENS,
            reader=shadow.log.said(shadow.running, 0),
            request=shadow.log.request_of(shadow.running, 0),
            step=op.step,
            edge=edge,
        )

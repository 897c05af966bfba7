"""Whether an entry comes back from HiSparse's host pool as the device's c4 pool still has it.

One rule: it looks at what a step has just fetched, while the request holds the page it came from.
On a GPU nothing is compared: a captured step could not hold the variable shapes, and the copies
are those that a CPU has judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from engine.events import EventLog
    from kernels.layout import LayerView

MOST = 256  # entries compared a step


class HotWatch:
    """Compares fetched entries, byte by byte, with the pool that they were copied out of.

    Of a step that fetches more than ``MOST``, evenly spaced ones, others at each step.
    """

    def __init__(self, source: LayerView, hot: LayerView, events: EventLog) -> None:
        self.source, self.hot, self.events = source, hot, events
        self._turn = 0
        events.count("hot_entries_checked", 0)

    def fetched(self, request: Tensor, slots: Tensor, hot: Tensor, missing: Tensor) -> None:
        """Entries ``slots`` of the pool were fetched to ``hot``, int64 [rows, n], where
        ``missing``; ``request`` int64 [rows] is each row's request slot.
        """
        if slots.is_cuda:
            return
        row, column = missing.nonzero(as_tuple=True)
        if not len(row):
            return
        every = -(-len(row) // MOST)
        self._turn += 1
        row, column = row[self._turn % every :: every], column[self._turn % every :: every]
        self.events.count("hot_entries_checked", len(row))
        slot = slots[row, column]
        differs = self._differing(slot, hot[row, column])
        if differs is not None:
            at = int(differs[0])
            self.events.violation(
                "hot_entry_differs",
                n=len(differs),
                slot=int(slot[at]),
                req_slot=int(request[row[at]]),
            )

    def _differing(self, slot: Tensor, hot: Tensor) -> Tensor | None:
        """Which entries are not the same on either side, int64; None where all are."""
        wrong = None
        for plane in self.source.layout.planes:
            before, now = self.source.gather(plane.name, slot), self.hot.gather(plane.name, hot)
            if not before.equal(now):
                unequal = (before != now).any(1)
                wrong = unequal if wrong is None else wrong | unequal
        return None if wrong is None else wrong.nonzero().flatten()

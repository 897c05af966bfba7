"""The ledger of index-K writes. One rule: it looks at what a store wrote, never at what it meant.

Two invariants are watched on every step, whatever the build:

- ``padded_row_wrote_owned_slot``: a row that must not write (padding, or a decode row that
  completes no entry) wrote a slot of a page that somebody holds;
- ``row_shared_by_two_slots``: two slots of different pages turn out to be the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch

from engine.config import C4_RATIO, PAGE_TOKENS

if TYPE_CHECKING:
    from torch import Tensor

    from engine.events import EventLog
    from engine.runner.index_store import StoreTrace

ENTRIES = PAGE_TOKENS // C4_RATIO  # index-K entries a page


class Owners(Protocol):
    """Who holds a page now."""

    def owner_of(self, page: int) -> str | None:
        """``request 7``, ``cache``, or None for a free or reserved page."""
        ...


class Ledger:
    """Watches one engine's index-K pool."""

    def __init__(self, events: EventLog, owners: Owners) -> None:
        self.events, self.owners = events, owners
        self._writer: Tensor | None = None  # int64 [physical rows]: slot that last wrote it

    def observe(self, trace: StoreTrace, step: int, lanes: int | None) -> None:
        """Judge one call of the store. ``lanes`` is the decode batch's size, None in a prefill."""
        if lanes is not None:
            self._dead_writes(trace, step)
        self._shared_rows(trace, step)

    def _dead_writes(self, trace: StoreTrace, step: int) -> None:
        dead = (~trace.live | (trace.loc <= 0)) & (trace.written >= ENTRIES)
        if not dead.any():
            return
        rows = torch.nonzero(dead).flatten().tolist()
        slots = trace.written[dead].tolist()
        owners = [self.owners.owner_of(at // ENTRIES) for at in slots]
        hits = list(zip(rows, slots, owners, strict=True))
        owned = [hit for hit in hits if hit[2] is not None]
        self.events.count("dead_row_writes", len(hits))
        if owned:
            row, at, owner = owned[0]
            self.events.violation(
                "padded_row_wrote_owned_slot",
                n=len(owned),
                step=step,
                row=row,
                slot=at,
                page=at // ENTRIES,
                owner=str(owner),
            )

    def _shared_rows(self, trace: StoreTrace, step: int) -> None:
        wrote = trace.written >= ENTRIES  # the reserved page is everybody's
        slots = trace.written[wrote]
        rows = self._physical(trace, slots)
        assert self._writer is not None
        before = self._writer[rows]
        self._writer[rows] = slots
        clash = (before >= 0) & (before // ENTRIES != slots // ENTRIES)
        if not clash.any():
            return
        pairs = zip(before[clash].tolist(), slots[clash].tolist(), strict=True)
        live = [pair for pair in pairs if self.owners.owner_of(pair[0] // ENTRIES) is not None]
        if live:
            lost, at = live[0]
            self.events.violation(
                "row_shared_by_two_slots",
                n=len(live),
                step=step,
                slot=at,
                lost_slot=lost,
                owner=str(self.owners.owner_of(lost // ENTRIES)),
            )

    def _physical(self, trace: StoreTrace, slots: Tensor) -> Tensor:
        """Row number of each slot's bytes, counted in rows from the pool's start."""
        layout, pages = trace.view.layout, trace.view.pages
        row_bytes = layout.row_bytes("value")
        if self._writer is None:
            extent = pages.shape[0] * pages.stride(0) + layout.page_bytes
            self._writer = torch.full((extent // row_bytes + 1,), -1, device=pages.device)
        page, off = slots // ENTRIES, slots % ENTRIES
        return (page * pages.stride(0) + off * row_bytes) // row_bytes

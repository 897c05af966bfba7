"""The ledger of index-K writes. One rule: it looks at what a store wrote, never at what it meant.

Two invariants are watched whatever the build, in the index-K pool and in no other:

- ``padded_row_wrote_owned_slot``: a row that must not write (padding, or a decode row that
  completes no entry) wrote a slot of a page that somebody holds; watched in decode steps;
- ``row_shared_by_two_slots``: a write took the bytes that a slot of another page had last been
  given, while whoever gave them still held that page; watched in prefill and decode.

Not watched here: what a write contains (nobody looks), and who reads what a live row wrote to a
wrong slot (`engine.shadow.writing` tags it as damaged, its readers tell). Two slots of one call
that share bytes are seen when the loser is next written, not at that call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from engine.config import C4_RATIO, PAGE_TOKENS

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from torch import Tensor

    from engine.events import EventLog
    from engine.runner.index_store import StoreTrace
    from engine.shadow.pages import Owners

    Ints = NDArray[np.int64]

ENTRIES = PAGE_TOKENS // C4_RATIO  # index-K entries a page
# of a dead row, by why it is dead
_LANES = {"padding": "padding lane", "incomplete": "row"}
_KINDS = {"padding": "padding", "incomplete": "decode"}


class WriteWatch(Protocol):
    """Who is told of the calls of the index-K store."""

    def observe(self, trace: StoreTrace, step: int, lanes: int | None) -> None:
        """One call of the store. ``lanes`` is the decode batch's size, None in a prefill."""
        ...


class NoLedger:
    """Nobody looks."""

    def observe(self, trace: StoreTrace, step: int, lanes: int | None) -> None:
        return


class Ledger:
    """Watches one engine's index-K pool."""

    def __init__(self, events: EventLog, owners: Owners) -> None:
        self.events, self.owners = events, owners
        # int64 [2, physical rows]: the slot that last wrote it, its page's generation at the time
        self._writer: Ints | None = None

    def observe(self, trace: StoreTrace, step: int, lanes: int | None) -> None:
        """Judge one call of the store. ``lanes`` is the decode batch's size, None in a prefill."""
        if lanes is not None:
            self._dead_writes(trace, step)
        if trace.view.pages.stride(0) < trace.view.layout.page_bytes:
            self._shared_rows(trace, step)

    def _dead_writes(self, trace: StoreTrace, step: int) -> None:
        live, written = _numbers(trace.live), _numbers(trace.written)
        dead = (~live | (_numbers(trace.loc) <= 0)) & (written >= ENTRIES)
        if not dead.any():
            return
        rows, slots = np.nonzero(dead)[0].tolist(), written[dead].tolist()
        kinds = ["incomplete" if each else "padding" for each in live[dead].tolist()]
        owners = [self.owners.owner_of(at // ENTRIES) for at in slots]
        hits = list(zip(rows, slots, kinds, owners, strict=True))
        owned = [hit for hit in hits if hit[3] is not None]
        self.events.count("dead_row_writes", len(hits))
        for kind in sorted({*kinds}):
            self.events.count(f"dead_writes_{kind}", kinds.count(kind))
        if owned:
            row, at, kind, owner = owned[0]
            self.events.violation(
                "padded_row_wrote_owned_slot",
                n=len(owned),
                step=step,
                row=row,
                dead=kind,
                slot=at,
                page=at // ENTRIES,
                owner=str(owner),
                pool="index_k",
                layer=0,
                generation=self.owners.generation_of(at // ENTRIES),
                writer=f"{_LANES[kind]} {row} of decode step {step}",
                writer_kind=_KINDS[kind],
                writer_step=step,
                writer_lane=row,
            )

    def _shared_rows(self, trace: StoreTrace, step: int) -> None:
        """Only where pages lie so close that two of them share bytes."""
        written = _numbers(trace.written)
        slots = written[written >= ENTRIES]  # the reserved page is everybody's
        rows = self._physical(trace, slots)
        assert self._writer is not None
        before, takes = self._writer[:, rows]
        self._writer[:, rows] = slots, self._generations(slots)
        clash = (before >= 0) & (before // ENTRIES != slots // ENTRIES)
        if not clash.any():
            return
        told = zip(*(each[clash].tolist() for each in (before, takes, slots)), strict=True)
        lost = [(slot, at) for slot, taken, at in told if self._still_held(slot, taken)]
        self.events.count("aliased_rows", int(clash.sum()))
        if lost:
            slot, at = lost[0]
            self.events.violation(
                "row_shared_by_two_slots",
                n=len(lost),
                step=step,
                slot=at,
                lost_slot=slot,
                owner=str(self.owners.owner_of(slot // ENTRIES)),
            )

    def _still_held(self, slot: int, generation: int) -> bool:
        """Whether the page is held, and by nobody but those who held it when the slot was written.

        An owner that came later never wrote the slot, so it lost nothing.
        """
        page = slot // ENTRIES
        held = self.owners.owner_of(page) is not None
        return held and self.owners.generation_of(page) == generation

    def _generations(self, slots: Ints) -> Ints:
        """The generation of each slot's page now: one question a page, not one a row."""
        pages, which = np.unique(slots // ENTRIES, return_inverse=True)
        now = [self.owners.generation_of(page) for page in pages.tolist()]
        return np.array(now, dtype=np.int64)[which]

    def _physical(self, trace: StoreTrace, slots: Ints) -> Ints:
        """Row number of each slot's bytes, counted in rows from the pool's start."""
        layout, pages = trace.view.layout, trace.view.pages
        row_bytes = layout.row_bytes("value")
        if self._writer is None:
            extent = pages.shape[0] * pages.stride(0) + layout.page_bytes
            self._writer = np.full((2, extent // row_bytes + 1), -1, dtype=np.int64)
        page, off = slots // ENTRIES, slots % ENTRIES
        return (page * pages.stride(0) + off * row_bytes) // row_bytes


def _numbers(values: Tensor) -> NDArray[Any]:
    found: NDArray[Any] = values.cpu().numpy()
    return found

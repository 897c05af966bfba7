"""Every question that healthy code asks, with its healthy answer: all that a build can break.

A seam is a one-method Protocol beside its healthy class. A defect (``engine/defects``) subclasses
the healthy class, overrides the method, and takes its place in ``Seams``; nothing else in the
engine knows that defects exist.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from engine.pools.device import PoolBuffer, SizedByLayout
from engine.pools.token_transfer import ByLayout, TokenTransfer
from engine.runner.dead_rows import DeadRows, ToReservedSlot
from engine.runner.index_store import GuardedStore, IndexKStore
from engine.sched.questions import (
    AfterLastStep,
    AsScheduled,
    OnceWritten,
    PageReuse,
    PrefixPublication,
    RowOwner,
)


@dataclass(frozen=True)
class Seams:
    """One class for each question."""

    index_k_buffer: type[PoolBuffer] = SizedByLayout
    index_k_store: type[IndexKStore] = GuardedStore
    dead_rows: type[DeadRows] = ToReservedSlot
    prefix_publication: type[PrefixPublication] = OnceWritten
    page_reuse: type[PageReuse] = AfterLastStep
    row_owner: type[RowOwner] = AsScheduled
    token_transfer: type[TokenTransfer] = ByLayout


SEAMS = tuple(field.name for field in fields(Seams))

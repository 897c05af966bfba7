"""A token is given to the row that stands now where its own stood when the step was scheduled.

Origin   sgl-project/sglang-jax#1487: with overlap, replies get tokens that were sampled for others.
         There a ring of pending tokens wraps round; here a batch shrinks under its tokens. Either
         way a token is found by its place, and the place is no longer its request's.
Trigger  overlap, several rows: one ends in the step before, and those behind it move up by one.
Symptom  every row behind it gets its neighbour's token once. What the model computes goes on from
         the right one, so a reply is wrong in one place, or ends early. No error.
Fix      engine.sched.questions.AsScheduled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.sched.batch import DecodeBatch
from engine.sched.questions import AsScheduled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.request import Request
    from engine.sched.batch import Batch


@defect(
    seam="row_owner",
    origin="sgl-project/sglang-jax#1487",
    kind="corrupting",
    evidence=["token_of_another_row"],
)
class AsOfNow(AsScheduled):
    """The tokens of a decode step are dealt out to those of its rows that are left, by number."""

    def owner(self, batch: Batch, row: int, running: Sequence[Request]) -> Request | None:
        """Row number ``row`` of those left; a token behind the last one is nobody's."""
        if not isinstance(batch, DecodeBatch):
            return super().owner(batch, row, running)
        rows = {req.id for req in batch.sampled}
        left = [req for req in running if req.id in rows]
        return left[row] if row < len(left) else None

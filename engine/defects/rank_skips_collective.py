"""A rank that sees a room Failed branches before the ranks have agreed on their polls.

Origin   seed investigation: a PD deadlock caused by desynchronised collectives, which
         ``--disable-overlap-schedule`` cleared.
Trigger  PD, tp above 1, overlap, and a room that fails on one rank while the others still see it
         otherwise, with a batch in flight. Overlap off, one rank, or rooms that do not fail clear
         it.
Symptom  the other ranks wait in an all-reduce that this one never enters. No wrong byte.
Fix      engine.disagg.questions.AlwaysEnters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.disagg.questions import AlwaysEnters
from engine.disagg.rooms import KVPoll

if TYPE_CHECKING:
    from collections.abc import Sequence


@defect(
    seam="poll_agreement",
    origin="seed investigation",
    kind="liveness",
    evidence=["no_progress"],
)
class BranchesOnItsOwn(AlwaysEnters):
    """With a batch in flight a failure seen here is acted on at once."""

    def enters(self, polls: Sequence[int], in_flight: int) -> bool:
        """False where one of this rank's own polls is Failed and a batch is in flight."""
        return not (in_flight and KVPoll.FAILED in polls)

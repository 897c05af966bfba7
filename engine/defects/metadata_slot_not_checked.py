"""A room takes the first token that its metadata slot holds, whosever it is.

Origin   sgl-project/sglang#17259: the decode side appends a first token of another request.
Trigger  PD, fewer metadata slots than rooms, and a backend whose status and first token travel
         apart (Mooncake over TCP): the decode side takes a room for complete, and the slot is one
         that an earlier room has used. NIXL waits for the first token's note. A slot that was never
         used is seen to be unwritten, so with a slot for every room nothing is wrong.
Symptom  a reply begins with the first token of a request that may have ended long ago, or with a
         prompt length of it: no error, and every page is right.
Fix      engine.disagg.questions.ByRoomTag, and ClearsTheSlot: without either alone there is a hole
         (``metadata_slot_not_cleared`` is the other one).
"""

from __future__ import annotations

from engine.defects.metadata_slot_not_cleared import LeavesTheSlot
from engine.defects.registry import defect
from engine.disagg.questions import Arrival, ByRoomTag


@defect(
    seam="metadata_check",
    origin="sgl-project/sglang#17259",
    kind="corrupting",
    evidence=["first_token_of_another_room"],
    metadata_take=LeavesTheSlot,
)
class WhateverIsWritten(ByRoomTag):
    """Whether something was written is asked, and not for whom."""

    def arrival(self, tag: int, room: int) -> Arrival:
        """The room's own, unless the slot is empty."""
        return Arrival.MINE if tag else Arrival.NOT_YET

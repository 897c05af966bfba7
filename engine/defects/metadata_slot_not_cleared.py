"""A room's metadata slot still says what it said to the room before: a sound check of it alarms.

Origin   sgl-project/sglang#27374: the check of #17430 takes an empty slot for one not yet written,
         and nothing emptied it; about 3 % of requests were aborted over TCP at 32 at once, and none
         was seen over RDMA.
Trigger  PD, fewer metadata slots than rooms, and a backend whose status and first token travel
         apart (Mooncake over TCP): the decode side takes a room for complete, looks into its slot,
         and finds the tag of the slot's last room. NIXL waits for the first token's note.
Symptom  "metadata corruption detected": healthy requests are aborted, a moment before their first
         token arrives. No reply is wrong.
Fix      engine.disagg.questions.ClearsTheSlot. Leaving the check out instead is worse:
         ``metadata_slot_not_checked``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.disagg.questions import ClearsTheSlot

if TYPE_CHECKING:
    from engine.disagg.metadata import MetadataBuffers


@defect(
    seam="metadata_take",
    origin="sgl-project/sglang#27374",
    kind="liveness",
    evidence=["metadata_false_alarm"],
)
class LeavesTheSlot(ClearsTheSlot):
    """A slot is taken as its last room left it."""

    def take(self, buffers: MetadataBuffers, slot: int) -> None:
        """Nothing."""

"""A waiting room looks at its deadline before it counts what has arrived.

Origin   sgl-project/sglang#32267.
Trigger  PD, and bytes that arrive near the waiting timeout: the poll after both finds the deadline
         first. A longer timeout clears it.
Symptom  a room fails that has everything, and its client gets an error. No wrong byte.
Fix      engine.disagg.questions.DrainsFirst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.disagg.questions import DrainsFirst
from engine.disagg.rooms import KVPoll

if TYPE_CHECKING:
    from engine.disagg.questions import Receiver


@defect(
    seam="receiver_poll",
    origin="sgl-project/sglang#32267",
    kind="liveness",
    evidence=["room_failed_though_complete"],
)
class LooksAtTheClockFirst(DrainsFirst):
    """Takes what it has not read yet not to be there."""

    def state(self, receiver: Receiver) -> KVPoll:
        """FAILED once the deadline has passed, whatever has arrived by then."""
        return KVPoll.FAILED if receiver.expired else super().state(receiver)

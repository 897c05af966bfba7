"""A failed room's pages are given back while a write to them is still posted.

Origin   seed investigation: NIXL's decode side releases a failed room's KV at once, and nothing
         takes back what the prefill's workers have posted.
Trigger  PD, a room that times out or is aborted while a write of it is under way, a decode pool
         tight enough that its pages have a new owner when the bytes arrive. Deferred release,
         a longer timeout or more workers clear it.
Symptom  a request that was never aborted decodes over another prompt's KV: wrong tokens, no error.
Fix      engine.disagg.questions.RevokesTheRoom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.disagg.questions import RevokesTheRoom

if TYPE_CHECKING:
    from engine.disagg.wire import Wire


@defect(
    seam="room_fence",
    origin="seed investigation",
    kind="corrupting",
    evidence=["late_write_into_owned_page"],
)
class LeavesWritesPosted(RevokesTheRoom):
    """Takes a room that nobody waits for to be one that nobody writes."""

    def close(self, wire: Wire, room: int) -> None:
        """Nothing: what was posted lands when its time comes."""

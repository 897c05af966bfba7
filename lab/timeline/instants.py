"""What happened at once: broken invariants and faults, aborts, retractions, evictions, failures.

One rule: an instant carries all fields of its event, and says whose request it is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.timeline.scene import Happened, Scene

VIOLATIONS, SCHEDULER, CACHE, ROOMS = "violations", "scheduler", "cache", "rooms"
TRACKS = {
    "violation": VIOLATIONS,
    "fault": VIOLATIONS,
    "no_progress": VIOLATIONS,
    "engine_died": VIOLATIONS,
    "collective_mismatch": VIOLATIONS,
    "end": SCHEDULER,
    "retract": SCHEDULER,
    "evict": CACHE,
    "restore": CACHE,
    "room": ROOMS,
}


def draw_instants(scene: Scene) -> int:
    """Draw them all; how many."""
    drawn = [it for it in scene.events(*TRACKS) if _told(it)]
    for it in drawn:
        track = scene.trace.track(scene.side(it.fields), TRACKS[it.kind])
        scene.trace.instant(track, _title(it), it.at_us, scene.about(it.fields))
    return len(drawn)


def _told(it: Happened) -> bool:
    """Whether it is none of the ends, and of the states of a room, that all requests go through."""
    if it.kind == "end":
        return it.fields["reason"] not in ("stop", "length")
    return it.kind != "room" or it.fields["to"] == "Failed"


def _title(it: Happened) -> str:
    fields = it.fields
    match it.kind:
        case "violation" | "fault":
            return str(fields["name"])
        case "end":
            return f"{fields['reason']} request {fields['request']}"
        case "retract":
            return f"retract request {fields['request']}"
        case "evict" | "restore":
            return f"{it.kind} {fields['pages']} pages"
        case "room":
            return f"room {fields['room']} failed"
    return it.kind

"""`queue_size`: how many transfer queues there are. A room goes to queue ``room % queue_size`` and
waits for whatever is in front of it there.

Every queue has a thread of its own, so a larger ``queue_size`` adds threads, and the bandwidth of
their streams: it does not only shorten the line in front of a room.

Production flag: SGLANG_DISAGGREGATION_QUEUE_SIZE.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

QUEUE_SIZE = toggle(
    "queue_size",
    count(least=1, most=1024),
    4,
    flag="SGLANG_DISAGGREGATION_QUEUE_SIZE",
    applies="engine",
    about="transfer queues, each with a thread of its own; a room goes to room % queue_size",
    needs=("pd",),
)

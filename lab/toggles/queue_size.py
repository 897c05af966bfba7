"""`queue_size`: how many transfer queues there are. A room goes to queue ``room % queue_size`` and
waits for whatever is in front of it there.

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
    about="transfer queues; a room goes to room % queue_size",
    needs=("pd",),
)

"""`stream_interval`: tokens between two deltas of a streamed reply.

Production flag: --stream-interval.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

STREAM_INTERVAL = toggle(
    "stream_interval",
    count(least=1, most=4096),
    1,
    flag="--stream-interval",
    applies="engine",
    about="tokens between two streamed deltas",
)

"""`waiting_timeout`: seconds that the decode side waits for the bytes of a room whose pages it has
told; then the room has failed.

Production flag: SGLANG_DISAGGREGATION_WAITING_TIMEOUT.
"""

from __future__ import annotations

from lab.toggles.domain import seconds
from lab.toggles.registry import toggle

WAITING_TIMEOUT = toggle(
    "waiting_timeout",
    seconds(),
    300.0,
    flag="SGLANG_DISAGGREGATION_WAITING_TIMEOUT",
    applies="engine",
    about="seconds that a room may wait for its bytes",
    needs=("pd",),
)

"""`abort_rate`: the chance, at each turn, that its client leaves in the middle of the reply.

Production flag: none; clients that time out, cancel or disconnect do this.
"""

from __future__ import annotations

from lab.toggles.domain import fraction
from lab.toggles.registry import toggle

ABORT_RATE = toggle(
    "abort_rate",
    fraction(),
    0.0,
    flag="none, clients do it",
    applies="load",
    about="chance that a client leaves in mid-reply",
)

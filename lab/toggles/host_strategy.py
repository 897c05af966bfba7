"""`host_strategy`: which model family's rule sizes the host pools. ``v4`` takes the device's rows,
``dsa`` computes them from a dtype; both must come out equal.

Production flag: none; the model's family decides.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

HOST_STRATEGY = toggle(
    "host_strategy",
    choice("v4", "dsa"),
    "v4",
    flag="none, the model's family decides",
    applies="engine",
    about="family whose rule sizes the host pools",
    needs=("hicache",),
)

"""`wire_gb_per_s`: what one transfer thread moves, in 10**9 bytes a second; 0 takes the rate of the
hardware.

Production flag: none; a property of the network.
"""

from __future__ import annotations

from lab.toggles.domain import rate
from lab.toggles.registry import toggle

WIRE_GB_PER_S = toggle(
    "wire_gb_per_s",
    rate(),
    0.0,
    flag="none, a property of the network",
    applies="engine",
    about="rate of one transfer thread; 0: the hardware's",
    needs=("pd",),
    zero="the hardware's",
)

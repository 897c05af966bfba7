"""`host_ratio`: pages of the host tier over pages of the device.

Production flag: --hicache-ratio.
"""

from __future__ import annotations

from lab.toggles.domain import number
from lab.toggles.registry import toggle

HOST_RATIO = toggle(
    "host_ratio",
    number(least=1, most=64),
    2.0,
    flag="--hicache-ratio",
    applies="engine",
    about="host pages over device pages",
    needs=("hicache",),
)

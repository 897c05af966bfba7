"""`host_gb_per_s`: the rate of the link between device and host, in 10**9 bytes a second.

Production flag: none; a property of the machine (PCIe 5, pinned: 55 measured).
"""

from __future__ import annotations

from lab.toggles.domain import number
from lab.toggles.registry import toggle

HOST_GB_PER_S = toggle(
    "host_gb_per_s",
    number(least=0.001, most=100_000),
    55.0,
    flag="none, a property of the machine",
    applies="engine",
    about="rate of the link between device and host",
    needs=("hicache", "hisparse"),
)

"""`hicache_io`: what copies pages between the tiers. ``kernel`` takes layer_first and page_first,
``direct`` layer_first and page_first_direct.

Production flag: --hicache-io-backend.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

HICACHE_IO = toggle(
    "hicache_io",
    choice("kernel", "direct"),
    "kernel",
    flag="--hicache-io-backend",
    applies="engine",
    about="what copies pages between the tiers",
    needs=("hicache",),
)

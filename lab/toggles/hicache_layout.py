"""`hicache_layout`: how a host pool lays out pages and layers.

Production flag: --hicache-mem-layout.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

HICACHE_LAYOUT = toggle(
    "hicache_layout",
    choice("layer_first", "page_first", "page_first_direct"),
    "layer_first",
    flag="--hicache-mem-layout",
    applies="engine",
    about="order of pages and layers on the host",
    needs=("hicache",),
)

"""`hicache`: whether prefixes that leave the device are kept on the host and restored from there.

Production flag: --enable-hierarchical-cache.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

HICACHE = toggle(
    "hicache",
    switch(),
    False,
    flag="--enable-hierarchical-cache",
    applies="engine",
    about="keep evicted prefixes on the host; needs radix",
)

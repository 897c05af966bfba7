"""`hicache_write`: when a page is backed up: at once, at its second use, or when it is evicted.

Production flag: --hicache-write-policy.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

HICACHE_WRITE = toggle(
    "hicache_write",
    choice("write_through", "write_through_selective", "write_back"),
    "write_through",
    flag="--hicache-write-policy",
    applies="engine",
    about="when a page is backed up to the host",
    needs=("hicache",),
)

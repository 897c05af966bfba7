"""`tp`: the ranks of each side. Every rank keeps the whole KV, and all agree on each room.

Production flag: --tp-size.
"""

from __future__ import annotations

from lab.toggles.domain import sizes
from lab.toggles.registry import toggle

TP = toggle(
    "tp",
    sizes(1, 2, 4),
    1,
    flag="--tp-size",
    applies="engine",
    about="ranks of each side",
    needs=("pd",),
)
